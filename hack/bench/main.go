// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

// Command bench measures the limiter beside what a user would run instead: the Go
// libraries for rate limits in Redis, and bare scripts. All of it runs on one Redis
// of its own, in turn and in several rounds, with Redis on one core and the callers
// on another. It prints one table, and each target with what was measured. With
// -proxy it measures the sidecar beside other proxies instead, each on a core of its own.
//
//	bench [-proxy] [-seconds S] [-rounds N] [-keys N] [-markdown FILE] [-profile FILE] [-only ROWS]
package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"runtime/pprof"
	"syscall"
	"time"
)

// options say how long to measure. More of each steadies the numbers.
type options struct {
	// Seconds is how long a cell of the table is measured in each round.
	Seconds float64
	// Rounds is how often: the table has the medians.
	Rounds int
	// Keys is over how many keys the memory of one is measured.
	Keys int
	// Markdown is the file whose measured part is replaced; empty writes none.
	Markdown string
	// Profile is where a CPU profile goes: of this process, or of the sidecars that are
	// measured together; empty writes none.
	Profile string
	// profiles is the folder for that of each sidecar; empty for none.
	profiles string
	// Only, if not empty, measures the contenders of these names alone.
	Only string
	// Root is the folder of the repository, where the sidecar is built.
	Root string
}

// length is Seconds as a duration.
func (o options) length() time.Duration { return time.Duration(o.Seconds * float64(time.Second)) }

func main() {
	var o options
	flag.Float64Var(&o.Seconds, "seconds", 1.2, "how long each cell is measured in each round")
	flag.IntVar(&o.Rounds, "rounds", 3, "how many rounds; the table has the medians")
	flag.IntVar(&o.Keys, "keys", 1_000_000, "over how many keys the memory of one is measured; 0 measures none")
	flag.StringVar(&o.Markdown, "markdown", "", "file whose measured part is replaced, such as docs/performance.md")
	flag.StringVar(&o.Profile, "profile", "", "file for the CPU profile of the callers, or with -proxy of the sidecars")
	flag.StringVar(&o.Only, "only", "", "comma-separated names of the rows to measure; empty measures all, and the targets")
	flag.StringVar(&o.Root, "root", "../..", "folder of the repository")
	proxies := flag.Bool("proxy", false, "measure the request path beside other proxies, not the limiter")
	flag.Parse()
	if flag.Arg(0) == reverseProxyRole {
		// This process is one of those that are measured.
		fmt.Fprintln(os.Stderr, "bench:", serveReverseProxy(flag.Arg(1), flag.Arg(2)))
		os.Exit(1)
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	measureAndPrint := run
	if *proxies {
		measureAndPrint = runProxies
	}
	if err := measureAndPrint(ctx, o, os.Stdout, os.Stderr); err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

// run measures everything and prints it. Progress goes to progress.
func run(ctx context.Context, o options, out, progress io.Writer) error {
	server, err := startServer(ctx)
	if err != nil {
		return err
	}
	defer server.stop()
	cores, err := pinApart(server.pid())
	if err != nil {
		return err
	}
	stopProfile, err := startProfile(o.Profile)
	if err != nil {
		return err
	}
	began, before := time.Now(), watchBystanders(ctx, server)
	found, err := measure(ctx, o, server, progress)
	stopProfile()
	if err != nil {
		return err
	}
	if found.machine, err = describeMachine(ctx, server, cores, before.share(watchBystanders(ctx, server))); err != nil {
		return err
	}
	fmt.Fprintf(progress, "measured in %.0f s\n", time.Since(began).Seconds())
	text := found.markdown()
	if _, err := io.WriteString(out, text); err != nil {
		return fmt.Errorf("print what was measured: %w", err)
	}
	if o.Markdown != "" {
		return replaceMeasured(o.Markdown, text)
	}
	return nil
}

// startProfile profiles this process's CPU until the returned function is called.
func startProfile(path string) (stop func(), err error) {
	if path == "" {
		return func() {}, nil
	}
	file, err := os.Create(path)
	if err != nil {
		return nil, fmt.Errorf("write a profile: %w", err)
	}
	if err := pprof.StartCPUProfile(file); err != nil {
		return nil, fmt.Errorf("profile the callers: %w", err)
	}
	return func() {
		pprof.StopCPUProfile()
		_ = file.Close()
	}, nil
}
