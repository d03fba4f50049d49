// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package programs

import (
	"fmt"
	"io"
	"os"
	"sync"
	"time"
)

// progress shows that a step is under way and for how long: on a terminal the line
// ticks every second, elsewhere (a CI log) a line comes every half minute. The
// function it returns ends the step.
func progress(out io.Writer, step string) func(error) {
	start := time.Now()
	live := isTerminal(out)
	every := 30 * time.Second
	if live {
		every = time.Second
		fmt.Fprintf(out, "  %s …", step)
	} else {
		fmt.Fprintf(out, "  %s …\n", step)
	}
	stop := make(chan struct{})
	var ticking sync.WaitGroup
	ticking.Go(func() {
		ticker := time.NewTicker(every)
		defer ticker.Stop()
		for {
			select {
			case <-stop:
				return
			case <-ticker.C:
				show(out, live, fmt.Sprintf("  %s … %s", step, elapsed(start)))
			}
		}
	})
	return func(err error) {
		close(stop)
		ticking.Wait()
		verdict := "built in"
		if err != nil {
			verdict = "failed after"
		}
		show(out, live, fmt.Sprintf("  %s %s %s", step, verdict, elapsed(start)))
		if live {
			fmt.Fprintln(out)
		}
	}
}

// show replaces the line on a terminal (return, text, erase the rest) and adds one elsewhere.
func show(out io.Writer, live bool, text string) {
	if live {
		fmt.Fprintf(out, "\r%s\x1b[K", text)
		return
	}
	fmt.Fprintln(out, text)
}

func elapsed(start time.Time) string {
	return time.Since(start).Round(time.Second).String()
}

func isTerminal(out io.Writer) bool {
	f, ok := out.(*os.File)
	if !ok {
		return false
	}
	info, err := f.Stat()
	return err == nil && info.Mode()&os.ModeCharDevice != 0
}
