// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package limiter

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/penstock-dev/penstock/internal/ruleset"
	"github.com/penstock-dev/penstock/test/model"
)

// present is a time of the years for which this is made, in microseconds.
const present = int64(1_900_000_000_000_000)

// requireModel decides once and compares everything with the model.
func requireModel(t *testing.T, fail func(string, ...any), limiter clocked, reference *model.Model, now int64, checks []Check) Decision {
	t.Helper()
	got, _ := requireModelFor(t, fail, limiter, reference, now, "", checks)
	return got
}

// requireModelFor is requireModel for a request that holds places under a name. It
// returns also what the model charged.
func requireModelFor(t *testing.T, fail func(string, ...any), limiter clocked, reference *model.Model, now int64, holder string, checks []Check) (Decision, model.Receipt) {
	t.Helper()
	limiter.set(t, now)
	got, err := limiter.Decide(t.Context(), "shop", checks)
	if err != nil {
		fail("decide at %d on %s: %v", now, describe(checks), err)
	}
	receipt := reference.ReceiptFor(now, modelsOf(checks, holder))
	if diff := compare(reference, now, holder, checks, got); diff != "" {
		fail("at %d on %s (-model +got):\n%s", now, describe(checks), diff)
	}
	return got, receipt
}

// verdict is what a decision and the model have in common.
type verdict struct {
	Allowed   bool
	Delay, At int64
	States    []model.State
}

// compare has the model decide as well, and returns how a decision differs from that.
func compare(reference *model.Model, now int64, holder string, checks []Check, got Decision) string {
	want := verdict{At: now}
	want.Allowed, want.States = reference.Decide(now, modelsOf(checks, holder))
	for i := range want.States {
		if !checks[i].Shadow {
			want.Delay = max(want.Delay, want.States[i].Delay)
		}
		want.States[i].Delay = 0
	}
	return cmp.Diff(want, verdict{
		Allowed: got.Allowed, Delay: got.Delay.Microseconds(), At: got.StoreTime, States: statesOf(got, checks),
	})
}

// modelOf is a check as the model takes it.
func modelOf(check Check) model.Check {
	return model.Check{
		Limit: check.Limit, Identity: check.Identity, Cost: check.Cost,
		Shadow: check.Shadow, Correctable: check.Correctable, Settled: check.Settled,
	}
}

// modelsOf are the checks of a request that holds places under a name.
func modelsOf(checks []Check, holder string) []model.Check {
	taken := make([]model.Check, len(checks))
	for i, check := range checks {
		taken[i] = modelOf(check)
		taken[i].Holder = holder
	}
	return taken
}

// statesOf brings a decision's states into the order of the checks.
func statesOf(decision Decision, checks []Check) []model.State {
	states := make([]model.State, 0, len(checks))
	for _, check := range checks {
		at := slices.IndexFunc(decision.Limits, func(s LimitState) bool {
			return s.Limit == check.Limit.Name && s.Identity == check.Identity
		})
		if at < 0 {
			continue
		}
		s := decision.Limits[at]
		states = append(states, model.State{
			Limit: s.Limit, Allowed: s.Allowed, Never: s.Never, Remaining: s.Remaining,
			Reset: s.ResetAfter.Microseconds(), Next: s.NextAfter.Microseconds(), RetryAfter: s.RetryAfter.Microseconds(),
		})
	}
	return states
}

func describe(checks []Check) string {
	var text strings.Builder
	for _, check := range checks {
		fmt.Fprintf(&text, "[%s %d per %d µs, burst %d, cost %d", check.Limit.Algorithm,
			check.Limit.Requests, check.Limit.WindowMicros, check.Limit.Burst, check.Cost)
		for word, set := range map[string]bool{", shadow": check.Shadow, ", correctable": check.Correctable, ", settled": check.Settled} {
			if set {
				text.WriteString(word)
			}
		}
		text.WriteByte(']')
	}
	return text.String()
}

// drawChecks draws one to three limits of any algorithm for one client.
func drawChecks(r *rapid.T, client string) []Check {
	count := rapid.IntRange(1, 3).Draw(r, "limits")
	checks := make([]Check, 0, count)
	for i := range count {
		checks = append(checks, drawCheck(r, client, i, nil))
	}
	return checks
}

// drawCheck draws a limit of the wanted algorithms; of all if that is nil.
func drawCheck(r *rapid.T, client string, number int, wanted func(ruleset.Algorithm) bool) Check {
	requests := rapid.OneOf(rapid.Int64Range(1, 20), rapid.Int64Range(1, 5000)).Draw(r, "requests")
	window := rapid.OneOf(rapid.Int64Range(1, 50), rapid.Int64Range(10_000, 100_000_000)).Draw(r, "window")
	burst := rapid.OneOf(rapid.Int64Range(1, 10), rapid.Int64Range(1, 3000)).Draw(r, "burst")
	of := checksOf(client, requests, burst, time.Duration(window)*time.Microsecond)
	if wanted != nil {
		of = slices.DeleteFunc(of, func(c Check) bool { return !wanted(c.Limit.Algorithm) })
	}
	limit := *rapid.SampledFrom(of).Draw(r, "algorithm").Limit
	limit.Name = fmt.Sprint(limit.Name, number)
	check := checkOf(client, limit)
	check.Shadow = rapid.IntRange(0, 4).Draw(r, "shadow") == 0
	check.Settled, check.Correctable = rapid.Bool().Draw(r, "settled"), rapid.Bool().Draw(r, "correctable")
	return check
}

// drawStep draws how far the clock moves, mostly to where something happens.
func drawStep(r *rapid.T, last Decision) int64 {
	interesting := []int64{0, 1, 1000}
	for _, state := range last.Limits {
		for _, after := range []time.Duration{state.RetryAfter, state.NextAfter, state.ResetAfter} {
			interesting = append(interesting, after.Microseconds(), max(0, after.Microseconds()-1))
		}
	}
	return rapid.OneOf(
		rapid.SampledFrom(interesting), rapid.SampledFrom(interesting), rapid.Int64Range(0, 50_000_000),
	).Draw(r, "step")
}

// comparison runs a limiter beside the model, in traces of decisions, corrections and
// steps of the clock.
type comparison struct {
	name    string
	limiter clocked
	// backwards has the clock step back as well.
	backwards bool
	// draw draws the limits that a client meets.
	draw  func(r *rapid.T, client string) []Check
	steps *rapid.Generator[int]

	traces, decisions int
}

func (c *comparison) run(t *testing.T) {
	t.Helper()
	limiter, backwards := c.limiter, c.backwards
	rapid.Check(t, func(r *rapid.T) {
		c.traces++
		limiter.forget()
		reference := model.New()
		checks := c.draw(r, fmt.Sprint(c.name, backwards, c.traces))
		now := present + rapid.Int64Range(0, 1_000_000).Draw(r, "start")
		var last Decision
		var open []openReceipt
		for step := range c.steps.Draw(r, "steps") {
			now += drawStep(r, last)
			if backwards && rapid.IntRange(0, 3).Draw(r, "back") == 0 {
				now -= rapid.Int64Range(0, 200_000_000).Draw(r, "back by")
			}
			if len(open) > 0 && rapid.IntRange(0, 2).Draw(r, "correct") == 0 {
				limiter.set(t, now)
				open[0].correct(r, reference, now)
				open = open[1:]
				continue
			}
			for i := range checks {
				most := min(checks[i].Limit.Burst+1, maxPlaces)
				checks[i].Cost = rapid.OneOf(rapid.Just(int64(1)), rapid.Int64Range(0, 3), rapid.Int64Range(0, most)).Draw(r, "cost")
			}
			c.decisions++
			decision, charged := requireModelFor(t, r.Fatalf, limiter, reference, now, fmt.Sprint(step), checks)
			if last = decision; last.Receipt != nil {
				last.Receipt.book = limiter.book()
				last.Receipt.abandon()
				open = append(open, openReceipt{got: last.Receipt, want: charged})
			}
		}
	})
}

// openReceipt is a receipt of the limiter, and what the model charged.
type openReceipt struct {
	got  *Receipt
	want model.Receipt
}

// correct settles or cancels it, twice: the second time changes nothing.
func (o openReceipt) correct(r *rapid.T, reference *model.Model, now int64) {
	if rapid.Bool().Draw(r, "cancel") {
		o.got.Cancel()
		reference.Cancel(now, o.want)
	} else {
		due := make([]int64, len(o.want.Checks))
		for i, check := range o.want.Checks {
			due[i] = rapid.OneOf(rapid.Int64Range(0, 3), rapid.Int64Range(0, 3*check.Limit.Burst)).Draw(r, "due")
		}
		o.got.Settle(func(check *Check) int64 {
			return due[slices.IndexFunc(o.want.Checks, func(c model.Check) bool { return c.Limit == check.Limit })]
		})
		reference.Settle(now, o.want, due)
	}
	o.got.Cancel()
}

func TestModelAgreesOnEveryNumber(t *testing.T) {
	t.Parallel()
	for name, limiter := range clockedLimiters(t) {
		c := comparison{name: name, limiter: limiter, draw: drawChecks, steps: rapid.IntRange(5, 25)}
		t.Run(name, c.run)
	}
}

// TestModelAgreesWhenTheClockStepsBack leaves out memory, whose clock never does.
func TestModelAgreesWhenTheClockStepsBack(t *testing.T) {
	t.Parallel()
	c := comparison{limiter: clockedLimiters(t)["redis"], backwards: true, draw: drawChecks, steps: rapid.IntRange(5, 25)}
	t.Run("redis", c.run)
}

// extremes are the ends of what a policy may say, and awkward numbers.
var extremes = map[string]Check{
	"most requests, longest window":  tokenBucketOf("a", maxRequests, maxRequests, 400*24*time.Hour),
	"prime requests, longest window": tokenBucketOf("b", 2_147_483_647, 2_147_483_647, 400*24*time.Hour),
	"prime requests, short window":   tokenBucketOf("c", 2_147_483_647, 2_147_483_647, 10*time.Millisecond),
	"one request, longest window":    tokenBucketOf("d", 1, 9, 400*24*time.Hour),
	"one request, short window":      tokenBucketOf("e", 1, 1, 10*time.Millisecond),
	"largest burst, ten years":       tokenBucketOf("f", 7, 2_147_483_647, time.Second),
	"unit just fits three digits":    tokenBucketOf("g", 1000, 50, 333_333*time.Microsecond),
	"unit just over three digits":    tokenBucketOf("h", 1001, 50, 333_333*time.Microsecond),
	"many windows":                   fixedWindowOf("i", maxRequests, 10*time.Millisecond),
	"one window a year":              fixedWindowOf("j", 2_147_483_647, 400*24*time.Hour),
	"counter, just in exact steps":   slidingWindowCounterOf("k", 104_248, 24*time.Hour),
	"counter, short window":          slidingWindowCounterOf("l", 2_147_483_647, 10*time.Millisecond),
	"log, most requests":             slidingWindowLogOf("p", maxLogged, 400*24*time.Hour),
	"log, short window":              slidingWindowLogOf("q", maxLogged, 10*time.Millisecond),
	"most requests in a month":       calendarOfClient("o", maxRequests, ruleset.Calendar{Period: ruleset.PeriodMonth, TimeZone: "Europe/Berlin"}),
	"counter, one a year":            slidingWindowCounterOf("m", 1, 400*24*time.Hour),
}

func TestModelAgreesAtTheExtremes(t *testing.T) {
	t.Parallel()
	// 2106, when the seconds of an unsigned 32-bit clock run out.
	const late = int64(4_294_967_295_999_999)
	for name, limiter := range clockedLimiters(t) {
		for extreme, check := range extremes {
			t.Run(name+"/"+extreme, func(t *testing.T) {
				reference := model.New()
				now := late
				for _, cost := range []int64{1, 2, check.Limit.Burst / 3, check.Limit.Burst / 3, check.Limit.Burst / 3, 1, check.Limit.Burst, 0, 7} {
					last := requireModel(t, t.Fatalf, limiter, reference, now, []Check{costing(check, cost)})
					now += last.RetryAfter.Microseconds() + last.Limits[0].NextAfter.Microseconds()/3
				}
			})
		}
	}
}

func TestArithmeticStaysExactInTheScript(t *testing.T) {
	t.Parallel()
	const late = int64(4_294_967_295_999_999)
	for extreme, check := range extremes {
		made, err := planFor(&check, time.Now)
		if err != nil {
			t.Errorf("%s: %v", extreme, err)
			continue
		}
		for _, argument := range made.appendArguments(nil) {
			if number, ok := argument.(int64); ok && late+2*number >= 1<<53 {
				t.Errorf("%s: %d added twice to the time of day reaches 2^53", extreme, number)
			}
		}
		if counter, ok := made.(*slidingWindowCounter); ok && (counter.requests+1)*counter.steps > 1<<53 {
			t.Errorf("%s: %d requests times %d steps exceed 2^53", extreme, counter.requests, counter.steps)
		}
		if check.Limit.Algorithm == ruleset.TokenBucket && made.(*tokenBucket).unit > math.MaxUint32 {
			t.Errorf("%s: unit %d has more than 32 bits", extreme, made.(*tokenBucket).unit)
		}
	}
}
