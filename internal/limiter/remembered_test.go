// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package limiter

import (
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/penstock-dev/penstock/internal/ruleset"
	"github.com/penstock-dev/penstock/test/redistest"
)

func TestARefusalIsRemembered(t *testing.T) {
	t.Parallel()
	client := clientOf(t, redistest.Start(t))
	limiter := newRedis(t, client.Options(), patience)
	check, other := fixedWindowOf("a", 9, ages), fixedWindowOf("b", 9, ages)
	decide(t, limiter, costing(check, 7))
	newRuleSet := check
	newRuleSet.Limit = new(ruleset.Limit)
	*newRuleSet.Limit = *check.Limit
	tests := map[string]struct {
		checks      []Check
		wantCalls   int
		wantAllowed bool
	}{
		"the same":                    {checks: []Check{costing(check, 3), other}},
		"a larger cost":               {checks: []Check{costing(check, 4)}},
		"a smaller cost":              {checks: []Check{costing(check, 0)}, wantCalls: 1, wantAllowed: true},
		"another limit that was met":  {checks: []Check{costing(other, 0)}, wantCalls: 1, wantAllowed: true},
		"the limit of a new rule set": {checks: []Check{costing(newRuleSet, 3)}, wantCalls: 1},
	}
	for name, tc := range tests {
		// Anew, so that no case is about the time that another took.
		limiter.remembered.sweep(time.Now().Add(time.Hour))
		refused := decide(t, limiter, costing(check, 3), other)
		before := calls(t, client, "evalsha")
		got := decide(t, limiter, tc.checks...)
		if made := calls(t, client, "evalsha") - before; made != tc.wantCalls || got.Allowed != tc.wantAllowed || got.Source != Store {
			t.Errorf("%s: %d calls, decision %+v, want %d calls, allowed %t by the store", name, made, got, tc.wantCalls, tc.wantAllowed)
		}
		if tc.wantAllowed {
			continue
		}
		if wait := refused.RetryAfter - got.RetryAfter; len(got.Limits) != 1 || got.Limits[0].Remaining != 2 || got.RetryAfter <= 0 || wait < 0 || wait > patience {
			t.Errorf("%s: %+v after %+v, want 2 left and a wait that was counted down", name, got, refused)
		}
	}
}

// TestRefusalsAreCountedDown compares what memory says of a refusal with what the
// algorithm would say then.
func TestRefusalsAreCountedDown(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(r *rapid.T) {
		check := drawChecks(r, "a")[0]
		most := check.Limit.Burst
		check.Cost = rapid.Int64Range(1, most).Draw(r, "cost")
		larger := costing(check, rapid.Int64Range(check.Cost, most+1).Draw(r, "larger cost"))
		if check.Limit.Algorithm == ruleset.Concurrency {
			// Nobody knows when a place gets free: such refusals are not remembered.
			return
		}
		asked, err := planFor(&check, nil)
		later, laterErr := planFor(&larger, nil)
		if err != nil || laterErr != nil {
			r.Fatal(err, laterErr)
		}
		// Requests of cost 1 until this one is refused, or that many.
		var used state
		one, err := planFor(new(costing(check, 1)), nil)
		if err != nil {
			r.Fatal(err)
		}
		for range most {
			if stand := one.stand(used, present); stand.admits {
				used = one.charge(used, stand, present)
			}
		}
		stand := asked.stand(used, present)
		if stand.admits {
			return
		}
		wait := min(asked.(agingPlan).ages(stand, check.Cost), asked.(agingPlan).ages(stand, larger.Cost))
		if wait == 0 {
			return
		}
		elapsed := rapid.Int64Range(0, wait-1).Draw(r, "elapsed")
		got := later.(agingPlan).aged(stand, elapsed)
		got.admits = false
		want := later.stand(used, present+elapsed)
		if diff := cmp.Diff(fmt.Sprintf("%+v", later.report(want, false)), fmt.Sprintf("%+v", later.report(got, false))); want.admits || diff != "" {
			r.Fatalf("%s, %d µs after a refusal: admits %t (-algorithm +memory):\n%s", describe([]Check{larger}), elapsed, want.admits, diff)
		}
	})
}

// TestAResetShowsWithinASecond has the counter deleted by somebody else.
func TestAResetShowsWithinASecond(t *testing.T) {
	t.Parallel()
	client := clientOf(t, redistest.Start(t))
	limiter := newRedis(t, client.Options(), patience)
	check := fixedWindowOf("a", 1, ages)
	decide(t, limiter, check)
	began := time.Now()
	decide(t, limiter, check)
	if err := client.Del(t.Context(), counterOf(check)).Err(); err != nil {
		t.Fatal(err)
	}
	await(t, func() error {
		if got := decide(t, limiter, check); !got.Allowed {
			return fmt.Errorf("still refused: %+v", got)
		}
		return nil
	})
	if took := time.Since(began); took < rememberedFor || took > 3*rememberedFor {
		t.Errorf("admitted %v after the refusal, want after %v", took, rememberedFor)
	}
}

func TestRememberedRefusalsOutlastTheBreaker(t *testing.T) {
	t.Parallel()
	limiter := newRedis(t, clientOf(t, redistest.Start(t)).Options(), patience)
	check := fixedWindowOf("a", 1, ages)
	decide(t, limiter, check)
	decide(t, limiter, check)
	limiter.only().breaker.open = true
	if got := decide(t, limiter, check); got.Allowed || got.Source != Store {
		t.Errorf("%+v while the store is not asked, want the refusal that is remembered", got)
	}
}

func TestRememberedRefusalsAreBounded(t *testing.T) {
	t.Parallel()
	kept := newRemembered()
	now := time.Now()
	for i := range 2 * mostRefusals {
		check := fixedWindowOf(fmt.Sprint(i), 1, ages)
		plans, err := plansFor([]Check{check}, nil)
		if err != nil {
			t.Fatal(err)
		}
		stands := []standing{{first: 1, second: ages.Microseconds()}}
		kept.remember("shop", []Check{check}, plans, stands, now, now)
		if _, refused := kept.decide(now, "shop", []Check{check}); !refused {
			t.Fatalf("refusal %d is not remembered", i+1)
		}
	}
	if count := len(kept.kept); count != mostRefusals {
		t.Errorf("%d refusals are remembered, want %d", count, mostRefusals)
	}
	kept.sweep(now.Add(rememberedFor))
	if count := len(kept.kept); count != 0 {
		t.Errorf("%d refusals are remembered after their time", count)
	}
}

// BenchmarkRememberedRefusal is a refusal that the store is not asked about.
func BenchmarkRememberedRefusal(b *testing.B) {
	limiter := newRedis(b, sidecarOptions(b, redistest.Start(b).Addr()), patience)
	checks := []Check{tokenBucketOf("a", 1, 1, time.Hour)}
	plans, err := plansFor(checks, nil)
	if err != nil {
		b.Fatal(err)
	}
	stand := standing{first: time.Hour.Microseconds()}
	now := time.Now()
	limiter.remembered.put(nameOf("shop", &checks[0]), refusal{
		limit: checks[0].Limit, cost: 1, plan: plans[0].(agingPlan), stand: stand, received: now, until: now.Add(time.Hour),
	})
	b.ReportAllocs()
	for b.Loop() {
		if decision, err := limiter.Decide(b.Context(), "shop", checks); err != nil || decision.Allowed {
			b.Fatal(decision, err)
		}
	}
}
