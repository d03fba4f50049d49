// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package history

import (
	"context"
	"fmt"
	"math/rand/v2"
	"sync/atomic"
	"time"

	"github.com/penstock-dev/penstock/internal/limiter"
	"github.com/penstock-dev/penstock/internal/ruleset"
)

const (
	// rememberOneIn is one in how many requests may be refused from memory. Half of
	// those that were refused are sent again.
	rememberOneIn = 5
	// mostHeld is for how many requests a worker holds places at once.
	mostHeld = 12
	// releaseOneIn is how seldom a worker that holds the most gives places back.
	releaseOneIn = 8
)

// worker makes one request after the other and records them.
type worker struct {
	name   string
	scene  Scene
	limits Limits
	names  []string
	random *rand.Rand
	asked  *limiters
	quota  *quota
	every  time.Duration
	// refused is what was refused last and may be refused from memory.
	refused []wish
	// held are the requests that hold places, the oldest first.
	held    []heldPlaces
	records []Record
	// released are the numbers of give-backs by that of the record.
	released map[int]int
	err      error
}

// heldPlaces are the places that a request got.
type heldPlaces struct {
	number  int
	receipt *limiter.Receipt
}

func (w *worker) run(ctx context.Context, stop *atomic.Bool, most int) {
	w.released = map[int]int{}
	wait := func() {}
	if w.every > 0 {
		ticker := time.NewTicker(w.every)
		defer ticker.Stop()
		wait = func() { <-ticker.C }
	}
	for len(w.records) < most && !stop.Load() && w.err == nil {
		wait()
		switch {
		case w.scene.rests(w.random, time.Now()):
		case w.random.IntN(mostHeld) < len(w.held) && w.random.IntN(releaseOneIn) == 0:
			w.release()
		case w.refused != nil && w.random.IntN(2) == 0:
			w.err = w.ask(ctx, w.refused, true)
		default:
			wishes := w.scene.draw(w.random, w.limits, w.names, time.Now())
			w.err = w.ask(ctx, wishes, w.scene == Leased || w.random.IntN(rememberOneIn) == 0)
		}
	}
	for len(w.held) > 0 {
		w.release()
	}
}

// ask makes one request.
func (w *worker) ask(ctx context.Context, wishes []wish, remember bool) error {
	checks := make([]limiter.Check, len(wishes))
	for i, wish := range wishes {
		checks[i] = w.limits[wish.limit].checkOf(wish.client, wish.cost)
	}
	record := Record{Worker: w.name, Number: len(w.records) + 1, Before: time.Now().UnixMicro()}
	decision, err := w.asked.decide(ctx, checks, remember)
	if err != nil {
		return fmt.Errorf("decide for %v: %w", record, err)
	}
	record.After = time.Now().UnixMicro()
	record.At, record.Admitted = decision.StoreTime, decision.Allowed
	record.Checks = judged(decision, wishes)
	w.records = append(w.records, record)
	if !record.fromMemory() || w.scene == Leased {
		w.quota.take()
	}
	w.refused = nil
	if remember && !record.Admitted {
		w.refused = wishes
	}
	if w.holds(record) {
		w.held = append(w.held, heldPlaces{number: record.Number, receipt: decision.Receipt})
	} else {
		decision.Receipt.Settle(nil)
	}
	return nil
}

// holds says whether a request got places.
func (w *worker) holds(record Record) bool {
	for _, check := range record.Checks {
		if record.Admitted && check.Admits && check.Cost > 0 && w.limits[check.Limit].Algorithm == ruleset.Concurrency {
			return true
		}
	}
	return false
}

// release gives back the places that are held for longest.
func (w *worker) release() {
	oldest := w.held[0]
	w.held = w.held[1:]
	record := Record{Worker: w.name, Number: len(w.records) + 1, Before: time.Now().UnixMicro(), Releases: oldest.number}
	w.released[record.Number] = w.asked.answers.make(func() { oldest.receipt.Settle(nil) })
	w.records = append(w.records, record)
}

// complete fills in when what the worker gave back was answered.
func (w *worker) complete() error {
	for number, made := range w.released {
		at, answered := w.asked.answers.answered(made)
		if !answered {
			return fmt.Errorf("complete the record of worker %s: what request %d gave back never reached the store", w.name, number)
		}
		w.records[number-1].After = at
	}
	return nil
}

// judged is what the limits of a decision said.
func judged(decision limiter.Decision, wishes []wish) []Judged {
	said := make([]Judged, 0, len(wishes))
	for _, wish := range wishes {
		for _, state := range decision.Limits {
			if state.Limit == wish.limit && state.Identity == IdentityOf(wish.client) {
				said = append(said, Judged{Limit: wish.limit, Client: wish.client, Cost: wish.cost, Admits: state.Allowed})
			}
		}
	}
	return said
}
