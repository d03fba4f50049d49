// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

// Command mutate seeds faults into the code, one at a time, and shows for each the
// named test that turned red. A fault that no test notices fails the run: it says
// that something which matters could break unseen. The work tree is not touched;
// the faulty file reaches the compiler as an overlay.
package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"
)

// testTimeout bounds one fault's test: a fault may also make it hang.
const testTimeout = 2 * time.Minute

func main() {
	only := flag.String("only", "", "seed only the faults whose name contains this")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, *only); err != nil {
		fmt.Fprintln(os.Stderr, "mutate:", err)
		stop()
		os.Exit(1)
	}
}

func run(ctx context.Context, only string) error {
	chosen := slices.DeleteFunc(slices.Clone(faults), func(f fault) bool { return !strings.Contains(f.name, only) })
	if len(chosen) == 0 {
		return fmt.Errorf("no fault's name contains %q", only)
	}
	if err := checkBaseline(ctx, chosen); err != nil {
		return err
	}
	var problems []error
	for i, f := range chosen {
		began := time.Now()
		err := f.seed(ctx)
		if ctx.Err() != nil {
			return errors.New("interrupted")
		}
		verdict := "caught by " + f.test
		if err != nil {
			verdict = "NOT CAUGHT: " + err.Error()
			problems = append(problems, fmt.Errorf("%s: %w", f.name, err))
		}
		fmt.Printf("%2d/%d  %-48s %5.1fs  %s\n", i+1, len(chosen), f.name, time.Since(began).Seconds(), verdict)
	}
	fmt.Printf("mutate: %d faults seeded, %d caught, %d survived\n", len(chosen), len(chosen)-len(problems), len(problems))
	return errors.Join(problems...)
}

// checkBaseline holds that the tests pass without a fault: a test that is red
// anyway catches nothing.
func checkBaseline(ctx context.Context, chosen []fault) error {
	tests := map[string][]string{}
	for _, f := range chosen {
		tests[f.pkg] = append(tests[f.pkg], f.test)
	}
	fmt.Printf("running the %d packages' named tests without a fault\n", len(tests))
	for pkg, names := range tests {
		output, err := goTest(ctx, "", pkg, strings.Join(names, "|"))
		if err != nil {
			return fmt.Errorf("%s fails without a fault:\n%s", pkg, output)
		}
		for _, name := range names {
			if !bytes.Contains(output, []byte("--- PASS: "+name)) {
				return fmt.Errorf("%s has no test %s", pkg, name)
			}
		}
	}
	return nil
}

// seed puts the fault in and returns nil if the named test turned red.
func (f fault) seed(ctx context.Context) error {
	text, err := os.ReadFile(f.file)
	if err != nil {
		return err
	}
	if count := strings.Count(string(text), f.old); count != 1 {
		return fmt.Errorf("%s has %d places %q, so the fault cannot be seeded; mend hack/mutate/faults.go", f.file, count, f.old)
	}
	scratch, err := os.MkdirTemp("", "penstock-mutate-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(scratch)
	faulty := filepath.Join(scratch, filepath.Base(f.file))
	if err := os.WriteFile(faulty, []byte(strings.Replace(string(text), f.old, f.new, 1)), 0o600); err != nil {
		return err
	}
	overlay, err := writeOverlay(scratch, f.file, faulty)
	if err != nil {
		return err
	}
	output, testErr := goTest(ctx, overlay, f.pkg, f.test)
	switch {
	case testErr == nil:
		return fmt.Errorf("%s stayed green", f.test)
	case bytes.Contains(output, []byte("[build failed]")):
		return fmt.Errorf("the fault does not compile:\n%s", output)
	case !bytes.Contains(output, []byte("--- FAIL: "+f.test)) && !bytes.Contains(output, []byte("panic: test timed out")):
		return fmt.Errorf("go test failed, but not %s:\n%s", f.test, output)
	}
	return nil
}

func writeOverlay(scratch, file, faulty string) (string, error) {
	original, err := filepath.Abs(file)
	if err != nil {
		return "", err
	}
	content, err := json.Marshal(map[string]map[string]string{"Replace": {original: faulty}})
	if err != nil {
		return "", err
	}
	overlay := filepath.Join(scratch, "overlay.json")
	return overlay, os.WriteFile(overlay, content, 0o600)
}

func goTest(ctx context.Context, overlay, pkg, tests string) ([]byte, error) {
	arguments := []string{"test", "-count=1", "-v", "-timeout=" + testTimeout.String(), "-run=^(" + tests + ")$"}
	if overlay != "" {
		arguments = append(arguments, "-overlay="+overlay)
	}
	return exec.CommandContext(ctx, "go", append(arguments, pkg)...).CombinedOutput()
}
