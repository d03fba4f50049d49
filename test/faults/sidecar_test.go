// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package faults

import (
	"bytes"
	"context"
	"fmt"
	"runtime/pprof"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/penstock-dev/penstock/internal/limiter"
	"github.com/penstock-dev/penstock/internal/redisconn"
	"github.com/penstock-dev/penstock/internal/ruleset"
)

// pace is how often a caller sends a request.
const pace = 50 * time.Millisecond

// options say what sidecar to start. They also travel to another process.
type options struct {
	Settings redisconn.Settings
	// Mode is its rules' onStoreFailure, and names its namespace: each sidecar has
	// counters of its own.
	Mode ruleset.OnStoreFailure
}

// sidecar is a limiter as the sidecar program has one, under load.
type sidecar struct {
	options  options
	redis    *limiter.Redis
	decider  *limiter.Fallback
	recorder *recorder
	label    string
	stop     context.CancelFunc
	callers  sync.WaitGroup
}

// startSidecar connects and starts the load. Close it.
func startSidecar(o options) (*sidecar, error) {
	s := &sidecar{options: o, label: fmt.Sprint(o.Mode, " ", o.Settings.Addresses)}
	deadline := o.Settings.OperationTimeout
	if deadline == 0 {
		deadline = redisconn.DefaultOperationTimeout
	}
	var failed error
	ctx, stop := context.WithCancel(context.Background())
	s.stop = stop
	// Goroutines have the labels of the one that started them: what the limiter
	// leaves behind can be told from what others do.
	pprof.Do(ctx, pprof.Labels("sidecar", s.label), func(ctx context.Context) {
		if s.redis, failed = limiter.Connect(o.Settings); failed != nil {
			return
		}
		s.redis.Await(ctx)
		s.recorder = &recorder{limiter: s.redis, deadline: deadline, report: report{
			Counters: make(map[string]counts), Kinds: make(map[string]int64),
		}}
		s.decider = limiter.WithFallback(s.recorder, limiter.FallbackOptions{})
		s.startLoad(ctx)
	})
	if failed != nil {
		return nil, fmt.Errorf("connect a sidecar: %w", failed)
	}
	return s, nil
}

// startLoad starts 64 callers, evenly spread over the pace.
func (s *sidecar) startLoad(ctx context.Context) {
	started := 0
	for _, c := range counters() {
		for range c.callers {
			offset := pace * time.Duration(started) / 64
			s.callers.Go(func() { s.call(ctx, c, offset) })
			started++
		}
	}
}

func (s *sidecar) call(ctx context.Context, c counter, offset time.Duration) {
	check := c.check(s.options.Mode)
	timer := time.NewTimer(offset)
	defer timer.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-timer.C:
		}
		timer.Reset(pace)
		s.ask(ctx, c.name, check)
	}
}

func (s *sidecar) ask(ctx context.Context, name string, check limiter.Check) {
	defer func() {
		if recover() != nil {
			s.recorder.panicked()
		}
	}()
	// A request under way ends with its verdict, also when the load does.
	decision, err := s.decider.Decide(context.WithoutCancel(ctx), s.namespace(), []limiter.Check{check})
	if err == nil {
		s.recorder.decided(name, decision)
	}
}

func (s *sidecar) namespace() string { return namespaceOf(s.options.Mode) }

func namespaceOf(mode ruleset.OnStoreFailure) string { return strings.ToLower(string(mode)) }

// isNormal says that the store decides on every counter.
func (s *sidecar) isNormal(ctx context.Context) bool {
	for _, c := range counters() {
		look := c.check(s.options.Mode)
		look.Cost = 0
		if _, err := s.redis.Decide(ctx, s.namespace(), []limiter.Check{look}); err != nil {
			return false
		}
	}
	return true
}

// endLoad returns when no request is under way any more.
func (s *sidecar) endLoad() {
	s.stop()
	s.callers.Wait()
}

// close ends everything and returns the goroutines that are left after a while.
func (s *sidecar) close() string {
	s.endLoad()
	s.redis.Close()
	left := ""
	for deadline := time.Now().Add(patience); time.Now().Before(deadline); {
		if left = goroutinesOf(s.label); left == "" {
			return ""
		}
		<-time.After(settlePause)
	}
	return left
}

// goroutinesOf are the stacks of all goroutines with a label.
func goroutinesOf(label string) string {
	var text bytes.Buffer
	if err := pprof.Lookup("goroutine").WriteTo(&text, 1); err != nil {
		return "the goroutines cannot be listed: " + err.Error()
	}
	var found []string
	for stack := range strings.SplitSeq(text.String(), "\n\n") {
		if strings.Contains(stack, `"sidecar":`+strconv.Quote(label)) {
			found = append(found, stack)
		}
	}
	return strings.Join(found, "\n\n")
}

var _ node = (*sidecar)(nil)

func (s *sidecar) read() report { return s.recorder.read() }
