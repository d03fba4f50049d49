// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package proxy

import (
	"net/http"
	"testing"
	"time"

	"github.com/penstock-dev/penstock/internal/ruleset"
)

const testLimitKey = "AAAAAAAA"

// bucketRules have one bucket that fills in a minute × burst ÷ requests.
func bucketRules(t *testing.T, requests, burst int64, changes ...func(*ruleset.Policy)) *Rules {
	t.Helper()
	policy := onePolicy()
	limit := &policy.Rules[0].Limits[0]
	limit.Algorithm, limit.Requests, limit.Burst = ruleset.TokenBucket, requests, burst
	for _, change := range changes {
		change(&policy)
	}
	return rulesOf(t, policy)
}

func TestBucketsThatWereLoweredAreSettled(t *testing.T) {
	t.Parallel()
	window := func(p *ruleset.Policy) { p.Rules[0].Limits[0].Algorithm = ruleset.FixedWindow }
	corrected := func(p *ruleset.Policy) { p.Rules[0].Cost = &ruleset.Cost{Request: oneRequest, CountOn: []int{401}} }
	other := func(p *ruleset.Policy) { p.Rules[0].Limits[0].Key = "BBBBBBBB" }
	tests := map[string]struct {
		// rules come one after the other, ten seconds apart.
		rules []*Rules
		// wantFrom and wantUntil count from the first; the same is never.
		wantFrom, wantUntil time.Duration
	}{
		"no change":                    {rules: []*Rules{bucketRules(t, 10, 10), bucketRules(t, 10, 10)}},
		"raised":                       {rules: []*Rules{bucketRules(t, 10, 10), bucketRules(t, 10, 20)}},
		"as slow to fill":              {rules: []*Rules{bucketRules(t, 10, 10), bucketRules(t, 20, 20)}},
		"burst lowered":                {rules: []*Rules{bucketRules(t, 10, 10), bucketRules(t, 10, 5)}, wantFrom: 40 * time.Second, wantUntil: 100 * time.Second},
		"refills faster":               {rules: []*Rules{bucketRules(t, 10, 20), bucketRules(t, 20, 20)}, wantFrom: 40 * time.Second, wantUntil: 160 * time.Second},
		"with late charges":            {rules: []*Rules{bucketRules(t, 10, 10), bucketRules(t, 10, 5, corrected)}, wantFrom: 40 * time.Second, wantUntil: 160 * time.Second},
		"another window":               {rules: []*Rules{bucketRules(t, 10, 10, other), bucketRules(t, 10, 5)}},
		"no bucket":                    {rules: []*Rules{bucketRules(t, 10, 10, window), bucketRules(t, 5, 5, window)}},
		"lowered, then rules follow":   {rules: []*Rules{bucketRules(t, 10, 10), bucketRules(t, 10, 5), bucketRules(t, 10, 5)}, wantFrom: 40 * time.Second, wantUntil: 100 * time.Second},
		"lowered, then raised":         {rules: []*Rules{bucketRules(t, 10, 10), bucketRules(t, 10, 5), bucketRules(t, 10, 6)}},
		"lowered, and lowered again":   {rules: []*Rules{bucketRules(t, 10, 10), bucketRules(t, 10, 5), bucketRules(t, 10, 4)}, wantFrom: 50 * time.Second, wantUntil: 100 * time.Second},
		"lowered, and then taken away": {rules: []*Rules{bucketRules(t, 10, 10), bucketRules(t, 10, 5), rulesOf(t)}},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			began := time.Now()
			var before *Rules
			var state lowered
			for i, rules := range tc.rules {
				state = state.after(before, rules, began.Add(time.Duration(i)*10*time.Second))
				before = rules
			}
			for at := time.Duration(0); at < 300*time.Second; at += 5 * time.Second {
				want := at >= tc.wantFrom && at < tc.wantUntil
				if got := state.holds(testLimitKey, began.Add(at)); got != want {
					t.Errorf("%v after the first rules the bucket is settled: %t, want %t", at, got, want)
				}
			}
		})
	}
}

func TestChecksTellOfSettledBuckets(t *testing.T) {
	t.Parallel()
	gate := newRulesGate()
	gate.set(bucketRules(t, 10, 10))
	gate.set(bucketRules(t, 10, 5))
	rules, err := gate.await(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://a/", nil)
	if err != nil {
		t.Fatal(err)
	}
	request.RequestURI = "/"
	found, err := rules.Matcher.Match(&requestView{request: request})
	if err != nil {
		t.Fatal(err)
	}
	for after, want := range map[time.Duration]bool{0: false, settleAfter - time.Second: false, settleAfter + time.Second: true, time.Hour: false} {
		checks := checksFor(rules, found.Hits, time.Now().Add(after))
		if len(checks) != 1 || checks[0].Settled != want {
			t.Errorf("%v after the edit the checks are %+v, want one with Settled %t", after, checks, want)
		}
	}
}
