// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package proxy

import (
	"net/http"
	"testing"
	"time"

	"github.com/dunglas/httpsfv"

	"github.com/penstock-dev/penstock/internal/limiter"
	"github.com/penstock-dev/penstock/internal/ruleset"
)

const testIdentity = "Ab-_efghijklmnopqrstuv"

// minuteState is a limit of 10 per minute with 3 left.
func minuteState() limiter.LimitState {
	return limiter.LimitState{
		Kind: "RateLimitPolicy", Policy: "web", Rule: "all", Limit: "minute", Requests: 10, Burst: 10, Window: time.Minute,
		Identity: testIdentity, Allowed: true, Remaining: 3, ResetAfter: 41*time.Second + 1, NextAfter: 5*time.Second + 1,
	}
}

func with(state limiter.LimitState, change func(*limiter.LimitState)) limiter.LimitState {
	change(&state)
	return state
}

// TestPolicyOfTheSpeakingLimitDecides has two policies that differ in what their
// answers are to tell.
func TestPolicyOfTheSpeakingLimitDecides(t *testing.T) {
	t.Parallel()
	responses := func(_, policy string) *ruleset.Response {
		if policy == "web" {
			return &ruleset.Response{Headers: []ruleset.HeaderFamily{ruleset.HeadersXRateLimit}}
		}
		return &ruleset.Response{Headers: []ruleset.HeaderFamily{ruleset.HeadersDraft03}}
	}
	other := with(minuteState(), func(s *limiter.LimitState) { s.Policy = "other" })
	for want, limits := range map[string][]limiter.LimitState{
		"X-RateLimit-Limit": {minuteState(), other}, "RateLimit-Limit": {other, minuteState()},
	} {
		got := http.Header{}
		newLimitFields(&limiter.Decision{Allowed: true, Limits: limits}, responses).addTo(got)
		if _, told := got[want]; !told || len(got) != 3 {
			t.Errorf("header is %v, want %s and its like only", got, want)
		}
	}
}

func TestOddNamesAreQuoted(t *testing.T) {
	t.Parallel()
	text := `"` + string(appendEscaped(nil, "a\"b\\c\x01\xc3\xa9")) + `"`
	item, err := httpsfv.UnmarshalItem([]string{text})
	if err != nil || item.Value != "a\"b\\c???" {
		t.Errorf("%s is read as %v, %v", text, item.Value, err)
	}
}

func TestWholeSeconds(t *testing.T) {
	t.Parallel()
	for duration, want := range map[time.Duration]int64{
		-time.Second: 0, 0: 0, 1: 1, time.Microsecond: 1, time.Second: 1, time.Second + 1: 2, 3*time.Second - 1: 3, 1<<63 - 1: 9223372037,
	} {
		if got := wholeSeconds(duration); got != want {
			t.Errorf("wholeSeconds(%v) = %d, want %d", duration, got, want)
		}
	}
}
