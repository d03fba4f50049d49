// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package limiter

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/penstock-dev/penstock/internal/ruleset"
	"github.com/penstock-dev/penstock/test/model"
	"github.com/penstock-dev/penstock/test/redistest"
)

func podScoped(check Check) Check {
	check.PodScoped = true
	return check
}

// deciderFunc decides as a function does.
type deciderFunc func(checks []Check) (Decision, error)

func (f deciderFunc) Decide(_ context.Context, _ string, checks []Check) (Decision, error) {
	return f(checks)
}

// TestPodScopeAgreesWithTheModel has requests meet limits of the pod and of the store:
// all is charged or nothing, as if they were in one place.
func TestPodScopeAgreesWithTheModel(t *testing.T) {
	t.Parallel()
	store := newClockedRedis(t, clientOf(t, redistest.Start(t)))
	trace := 0
	rapid.Check(t, func(r *rapid.T) {
		trace++
		limiter := WithPodScope(store, newClockedMemory(store.at).Memory)
		reference, client := model.New(), fmt.Sprint("pods", trace)
		var checks []Check
		for i := range rapid.IntRange(1, 4).Draw(r, "limits") {
			check := drawCheck(r, client, i, nil)
			check.PodScoped = rapid.Bool().Draw(r, "of the pod")
			checks = append(checks, check)
		}
		now := present + rapid.Int64Range(0, 1_000_000).Draw(r, "start")
		var last Decision
		var open []openReceipt
		for step := range rapid.IntRange(5, 25).Draw(r, "steps") {
			now += drawStep(r, last)
			store.set(t, now)
			if len(open) > 0 && rapid.IntRange(0, 2).Draw(r, "correct") == 0 {
				open[0].correct(r, reference, now)
				open = open[1:]
				continue
			}
			for i := range checks {
				most := min(checks[i].Limit.Burst+1, maxPlaces)
				checks[i].Cost = rapid.OneOf(rapid.Just(int64(1)), rapid.Int64Range(0, 3), rapid.Int64Range(0, most)).Draw(r, "cost")
			}
			var err error
			if last, err = limiter.Decide(t.Context(), "shop", checks); err != nil {
				r.Fatalf("decide on %s: %v", describe(checks), err)
			}
			models := modelsOf(checks, fmt.Sprint(step))
			charged := reference.ReceiptFor(now, models)
			want := verdictOf(reference, now, models, last)
			got := verdict{Allowed: last.Allowed, Delay: last.Delay.Microseconds(), States: statesOf(last, checks)}
			if diff := cmp.Diff(want, got); diff != "" {
				r.Fatalf("at %d on %s (-model +got):\n%s", now, describe(checks), diff)
			}
			for part := last.Receipt; part != nil; part = part.next {
				if _, inStore := part.book.(*Redis); inStore {
					part.book = store.book()
				}
				part.abandon()
			}
			if last.Receipt != nil {
				open = append(open, openReceipt{got: last.Receipt, want: charged})
			}
		}
	})
}

// verdictOf is the model's, with the states of the limits that a decision tells of: where
// the pod's limits refuse, nobody asked the store.
func verdictOf(reference *model.Model, now int64, checks []model.Check, decision Decision) verdict {
	var want verdict
	allowed, states := reference.Decide(now, checks)
	want.Allowed = allowed
	for i, state := range states {
		if !checks[i].Shadow {
			want.Delay = max(want.Delay, state.Delay)
		}
		state.Delay = 0
		if slices.ContainsFunc(decision.Limits, func(told LimitState) bool { return told.Limit == state.Limit }) {
			want.States = append(want.States, state)
		}
	}
	return want
}

func TestPodScopeAsksTheStoreForNothingElse(t *testing.T) {
	t.Parallel()
	failing := errors.New("no store")
	var asked []string
	limiter := WithPodScope(deciderFunc(func(checks []Check) (Decision, error) {
		for _, check := range checks {
			asked = append(asked, check.Limit.Name)
		}
		return Decision{}, failing
	}), NewMemory(nil, 0))
	own, shared := podScoped(fixedWindowOf("own", 2, ages)), fixedWindowOf("shared", 9, ages)

	for i, want := range []bool{true, true, false} {
		if got := decide(t, limiter, own); got.Allowed != want || got.Source != Store || got.StoreTime != 0 {
			t.Errorf("request %d: %+v, want allowed %t", i+1, got, want)
		}
	}
	if got := decide(t, limiter, own, shared); got.Allowed || len(got.Limits) != 1 || len(asked) != 0 {
		t.Errorf("refused by memory: %+v, want its own limit alone; the store was asked for %v", got, asked)
	}
	fresh := podScoped(fixedWindowOf("fresh", 1, ages))
	if _, err := limiter.Decide(t.Context(), "shop", []Check{fresh, shared}); !errors.Is(err, failing) {
		t.Errorf("without a store: %v, want its error", err)
	}
	if diff := cmp.Diff([]string{shared.Limit.Name}, asked); diff != "" {
		t.Errorf("asked of the store (-want +got):\n%s", diff)
	}
	if got := decide(t, limiter, fresh); !got.Allowed {
		t.Error("what the store gave no verdict on stays charged")
	}
}

// TestWhatTheStoreRefusesCostsThePodNothing has the store refuse, and then admit.
func TestWhatTheStoreRefusesCostsThePodNothing(t *testing.T) {
	t.Parallel()
	store := NewMemory(nil, 0)
	for _, algorithm := range algorithms {
		t.Run(string(algorithm), func(t *testing.T) {
			limiter := WithPodScope(store, NewMemory(nil, 0))
			limit := ruleset.Limit{Name: "own", Key: "own", Algorithm: algorithm, Requests: 1, Burst: 1, WindowMicros: ages.Microseconds()}
			if algorithm == ruleset.Concurrency {
				limit.WindowMicros = 0
			}
			own, shared := podScoped(checkOf(string(algorithm), limit)), fixedWindowOf("s"+string(algorithm), 1, ages)
			decide(t, limiter, shared)
			got := decide(t, limiter, own, shared)
			if got.Allowed || got.RetryAfter < time.Hour || got.Receipt != nil || len(got.Limits) != 2 || got.Limits[0].Limit != shared.Limit.Name {
				t.Fatalf("%+v, want refused by the store's limit", got)
			}
			if state := got.Limits[1]; !state.Allowed || state.Remaining != 1 || state.ResetAfter != 0 {
				t.Errorf("the pod's limit is told as %+v, want unused", state)
			}
			last := decide(t, limiter, own)
			if !last.Allowed {
				t.Error("the refused request was charged to the pod")
			}
			last.Receipt.Settle(nil)
		})
	}
}

// TestPlacesOfThePodAndTheStoreAreLeft has one request hold places in both.
func TestPlacesOfThePodAndTheStoreAreLeft(t *testing.T) {
	t.Parallel()
	limiter := WithPodScope(NewMemory(nil, 0), NewMemory(nil, 0))
	place := func(name string) Check {
		return checkOf("a", ruleset.Limit{Name: name, Key: name, Algorithm: ruleset.Concurrency, Requests: 1, Burst: 1})
	}
	own, shared := podScoped(place("own")), place("shared")
	first := decide(t, limiter, own, shared)
	if second := decide(t, limiter, own); !first.Allowed || second.Allowed {
		t.Fatalf("two requests at once: %t and %t, want one", first.Allowed, second.Allowed)
	}
	first.Receipt.Settle(nil)
	again := decide(t, limiter, own, shared)
	if !again.Allowed {
		t.Errorf("after the first ended: %+v, want admitted", again)
	}
	again.Receipt.Cancel()
}

// TestShadowsForOneRequest has a limit refuse, be a shadow for one request, and refuse
// again, where refusals are remembered and where requests are leased.
func TestShadowsForOneRequest(t *testing.T) {
	t.Parallel()
	limiter := newRedis(t, clientOf(t, redistest.Start(t)).Options(), patience)
	check := fixedWindowOf("a", 1, ages)
	shadow := check
	shadow.Shadow = true
	for i, want := range []struct {
		check   Check
		allowed bool
	}{{check, true}, {check, false}, {shadow, true}, {check, false}, {shadow, true}} {
		if got := decide(t, limiter, want.check); got.Allowed != want.allowed {
			t.Errorf("request %d: allowed %t, want %t", i+1, got.Allowed, want.allowed)
		}
	}
	leased := fixedWindowOf("b", 1000, ages)
	leased.Leased = true
	decide(t, limiter, leased)
	leased.Shadow = true
	if got := decide(t, limiter, leased); !got.Allowed || !got.Limits[0].Shadow {
		t.Errorf("%+v, want it told as a shadow", got)
	}
}
