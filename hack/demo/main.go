// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

// Command demo shows the whole of Penstock on one machine, as any user, without a
// cluster: a real API server with real admission, the operator with its embedded
// store, two replicas of an app with the sidecars that the webhook injected, and
// one limit that both count in. It asserts what it shows and cleans up.
//
// One part is not real and says so: instead of a kubelet, this program gives the
// pods their addresses and runs their containers as local processes.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"runtime"
	"strconv"
	"syscall"
	"time"
)

// The bounds of what the demo can show: a token of the bucket comes back after
// an hour divided by the limit, which must be longer than the demo sends.
const (
	maxLimit    = 500
	maxRequests = 5000
	timeout     = 5 * time.Minute
)

type options struct {
	limit, requests int
	bin             string
}

func main() {
	var o options
	// A set of its own: libraries have put flags of theirs into flag.CommandLine.
	flags := flag.NewFlagSet("demo", flag.ExitOnError)
	flags.IntVar(&o.limit, "limit", 10, fmt.Sprintf("requests per hour that the policy admits, 1 to %d; make demo LIMIT=…", maxLimit))
	flags.IntVar(&o.requests, "requests", 15, fmt.Sprintf("requests to send, 1 to %d; make demo REQUESTS=…", maxRequests))
	flags.StringVar(&o.bin, "bin", "bin", "folder with the built programs")
	_ = flags.Parse(os.Args[1:]) // exits by itself
	// A terminal that is closed sends SIGHUP.
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	defer stop()
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	if err := run(ctx, o); err != nil {
		if errors.Is(ctx.Err(), context.Canceled) {
			err = errors.New("interrupted; everything it started was stopped")
		}
		fmt.Fprintln(os.Stderr, "demo:", err)
		cancel()
		stop()
		os.Exit(1)
	}
}

func (o options) validate() error {
	switch {
	case runtime.GOOS != "linux":
		return fmt.Errorf("it needs Linux, where all of 127.0.0.0/8 is loopback; this is %s", runtime.GOOS)
	case o.limit < 1 || o.limit > maxLimit:
		return fmt.Errorf("LIMIT=%d is out of range: use 1 to %d", o.limit, maxLimit)
	case o.requests < 1 || o.requests > maxRequests:
		return fmt.Errorf("REQUESTS=%d is out of range: use 1 to %d", o.requests, maxRequests)
	}
	return nil
}

// run tells the story from top to bottom; whatever it started has ended when it
// returns.
func run(ctx context.Context, o options) (err error) {
	if err := o.validate(); err != nil {
		return err
	}
	scratch, err := os.MkdirTemp("", "penstock-demo-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(scratch)
	say("starting kube-apiserver and etcd on loopback")
	cluster, err := startCluster(o.bin, scratch)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, cluster.stop()) }()
	processes := newProcesses(scratch)
	defer func() {
		if err != nil && ctx.Err() == nil {
			processes.printTails(os.Stderr)
		}
		processes.stopAll()
	}()

	say("starting the operator with its embedded store")
	store, err := startOperator(ctx, cluster, processes, o.bin, scratch)
	if err != nil {
		return err
	}

	say("applying a store, a namespace, a policy and two pods")
	if err := cluster.applyObjects(ctx, map[string]string{"STORE": store, "LIMIT": strconv.Itoa(o.limit)}); err != nil {
		return err
	}

	say("standing in for the kubelet: running the pods' containers as local processes")
	kubelet := newKubelet(cluster.client, processes, o.bin, scratch)
	defer kubelet.release()
	replicas, err := kubelet.runPods(ctx, "shop")
	if err != nil {
		return err
	}

	say("waiting until the policy is in force in every replica")
	if err := waitUntilInForce(ctx, cluster, len(replicas)); err != nil {
		return err
	}
	return show(ctx, o, cluster, replicas)
}

// waitUntilInForce waits for all replicas. Ready alone asks it of the ready pods,
// and the operator may not have heard yet that the last one is.
func waitUntilInForce(ctx context.Context, c *cluster, replicas int) error {
	for _, condition := range []string{"condition=Ready", fmt.Sprintf("jsonpath={.status.pods.summary}=%d/%[1]d", replicas)} {
		if err := c.kubectl(ctx, os.Stdout, "-n", "shop", "wait", "--for="+condition, "--timeout=60s", "rlpol/storefront"); err != nil {
			return err
		}
	}
	return nil
}

func say(step string) { fmt.Println("==>", step) }
