// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package proxy

import (
	"net/http"
	"testing"
	"time"

	"github.com/dunglas/httpsfv"
	"github.com/google/go-cmp/cmp"

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

func TestLimitFields(t *testing.T) {
	t.Parallel()
	both := []ruleset.HeaderFamily{ruleset.HeadersRateLimit, ruleset.HeadersXRateLimit}
	burst := with(minuteState(), func(s *limiter.LimitState) { s.Limit, s.Requests, s.Burst, s.Window = "burst", 5, 20, time.Second })
	tests := map[string]struct {
		response ruleset.Response
		decision limiter.Decision
		app      http.Header
		want     http.Header
	}{
		"seconds are rounded up": {
			response: ruleset.Response{Headers: both},
			decision: limiter.Decision{Allowed: true, Limits: []limiter.LimitState{minuteState()}},
			want: http.Header{
				"RateLimit":         {`"web/all/minute";r=3;t=6;pk=:Ab+/efgh:`},
				"RateLimit-Policy":  {`"web/all/minute";q=10;w=60;pk=:Ab+/efgh:`},
				"X-RateLimit-Limit": {"10"}, "X-RateLimit-Remaining": {"3"}, "X-RateLimit-Reset": {"42"},
			},
		},
		"whole seconds stay": {
			response: ruleset.Response{Headers: []ruleset.HeaderFamily{ruleset.HeadersXRateLimit}},
			decision: limiter.Decision{Allowed: true, Limits: []limiter.LimitState{with(minuteState(), func(s *limiter.LimitState) { s.ResetAfter = 41 * time.Second })}},
			want:     http.Header{"X-RateLimit-Limit": {"10"}, "X-RateLimit-Remaining": {"3"}, "X-RateLimit-Reset": {"41"}},
		},
		"all limits are listed, the speaking one first": {
			response: ruleset.Response{Headers: []ruleset.HeaderFamily{ruleset.HeadersRateLimit, ruleset.HeadersXRateLimit, ruleset.HeadersDraft03}},
			decision: limiter.Decision{Allowed: true, Limits: []limiter.LimitState{burst, minuteState()}},
			want: http.Header{
				"RateLimit":         {`"web/all/burst";r=3;t=6;pk=:Ab+/efgh:, "web/all/minute";r=3;t=6;pk=:Ab+/efgh:`},
				"RateLimit-Policy":  {`"web/all/burst";q=5;w=1;penstock-burst=20;pk=:Ab+/efgh:, "web/all/minute";q=10;w=60;pk=:Ab+/efgh:`},
				"X-RateLimit-Limit": {"20"}, "X-RateLimit-Remaining": {"3"}, "X-RateLimit-Reset": {"42"},
				"RateLimit-Limit": {"20, 5;w=1, 10;w=60"}, "RateLimit-Remaining": {"3"}, "RateLimit-Reset": {"42"},
			},
		},
		"requests at once have no window": {
			response: ruleset.Response{Headers: []ruleset.HeaderFamily{ruleset.HeadersRateLimit, ruleset.HeadersDraft03}},
			decision: limiter.Decision{Allowed: true, Limits: []limiter.LimitState{with(minuteState(), func(s *limiter.LimitState) {
				s.Window, s.Identity = 0, ""
			})}},
			want: http.Header{
				"RateLimit": {`"web/all/minute";r=3;t=6`}, "RateLimit-Policy": {`"web/all/minute";q=10;qu="concurrent-requests"`},
				"RateLimit-Limit": {"10, 10"}, "RateLimit-Remaining": {"3"}, "RateLimit-Reset": {"42"},
			},
		},
		"no window below a second, no t when full": {
			response: ruleset.Response{Headers: []ruleset.HeaderFamily{ruleset.HeadersRateLimit}},
			decision: limiter.Decision{Allowed: true, Limits: []limiter.LimitState{with(minuteState(), func(s *limiter.LimitState) {
				s.Window, s.Remaining, s.NextAfter, s.Identity = 100*time.Millisecond, 10, 0, ""
			})}},
			want: http.Header{"RateLimit": {`"web/all/minute";r=10`}, "RateLimit-Policy": {`"web/all/minute";q=10`}},
		},
		"integers have 15 digits": {
			response: ruleset.Response{Headers: []ruleset.HeaderFamily{ruleset.HeadersRateLimit}},
			decision: limiter.Decision{Allowed: true, Limits: []limiter.LimitState{with(minuteState(), func(s *limiter.LimitState) {
				s.Requests, s.Burst, s.Remaining, s.Identity = 1<<53, 1<<53, 1<<53, ""
			})}},
			want: http.Header{"RateLimit": {`"web/all/minute";r=999999999999999;t=6`}, "RateLimit-Policy": {`"web/all/minute";q=999999999999999;w=60`}},
		},
		"refused: t is not beyond Retry-After": {
			response: ruleset.Response{Headers: []ruleset.HeaderFamily{ruleset.HeadersRateLimit}},
			decision: limiter.Decision{RetryAfter: 2 * time.Second, Limits: []limiter.LimitState{
				with(minuteState(), func(s *limiter.LimitState) {
					s.Allowed, s.Remaining, s.NextAfter, s.Identity = false, 0, 3*time.Second, ""
				}),
				with(minuteState(), func(s *limiter.LimitState) { s.Limit, s.NextAfter, s.Identity = "other", 50*time.Second, "" }),
			}},
			want: http.Header{
				"RateLimit":        {`"web/all/minute";r=0;t=2, "web/all/other";r=3`},
				"RateLimit-Policy": {`"web/all/minute";q=10;w=60, "web/all/other";q=10;w=60`},
			},
		},
		"cluster policy of the same name": {
			response: ruleset.Response{Headers: []ruleset.HeaderFamily{ruleset.HeadersRateLimit}},
			decision: limiter.Decision{Allowed: true, Limits: []limiter.LimitState{with(minuteState(), func(s *limiter.LimitState) { s.Kind, s.Identity = "ClusterRateLimitPolicy", "" })}},
			want:     http.Header{"RateLimit": {`"cluster/web/all/minute";r=3;t=6`}, "RateLimit-Policy": {`"cluster/web/all/minute";q=10;w=60`}},
		},
		"omitted on admitted answers": {
			response: ruleset.Response{Headers: both, OmitOnAllowed: true},
			decision: limiter.Decision{Allowed: true, Limits: []limiter.LimitState{minuteState()}},
			want:     http.Header{},
		},
		"not omitted on refusals": {
			response: ruleset.Response{Headers: []ruleset.HeaderFamily{ruleset.HeadersXRateLimit}, OmitOnAllowed: true},
			decision: limiter.Decision{Limits: []limiter.LimitState{with(minuteState(), func(s *limiter.LimitState) { s.Allowed = false })}},
			want:     http.Header{"X-RateLimit-Limit": {"10"}, "X-RateLimit-Remaining": {"3"}, "X-RateLimit-Reset": {"42"}},
		},
		"none wanted": {
			decision: limiter.Decision{Limits: []limiter.LimitState{with(minuteState(), func(s *limiter.LimitState) { s.Allowed = false })}},
			want:     http.Header{},
		},
		"nobody counted": {
			response: ruleset.Response{Headers: both},
			decision: limiter.Decision{Allowed: true, Limits: []limiter.LimitState{with(minuteState(), func(s *limiter.LimitState) { s.Source = limiter.StoreAllowed })}},
			want:     http.Header{},
		},
		"the app's lists stand beside ours": {
			response: ruleset.Response{Headers: []ruleset.HeaderFamily{ruleset.HeadersRateLimit}},
			decision: limiter.Decision{Allowed: true, Limits: []limiter.LimitState{with(minuteState(), func(s *limiter.LimitState) { s.Identity = "" })}},
			app:      http.Header{"Ratelimit": {`"app";r=1;t=1`}, "Ratelimit-Policy": {`"app";q=2;w=1`}},
			want: http.Header{
				"Ratelimit": {`"app";r=1;t=1`}, "Ratelimit-Policy": {`"app";q=2;w=1`},
				"RateLimit": {`"web/all/minute";r=3;t=6`}, "RateLimit-Policy": {`"web/all/minute";q=10;w=60`},
			},
		},
		"the app uses our name": {
			response: ruleset.Response{Headers: []ruleset.HeaderFamily{ruleset.HeadersRateLimit}},
			decision: limiter.Decision{Allowed: true, Limits: []limiter.LimitState{with(minuteState(), func(s *limiter.LimitState) { s.Identity = "" })}},
			app:      http.Header{"Ratelimit": {`"web/all/minute";r=1`}},
			want: http.Header{
				"Ratelimit": {`"web/all/minute";r=1`},
				"RateLimit": {`"penstock/web/all/minute";r=3;t=6`}, "RateLimit-Policy": {`"penstock/web/all/minute";q=10;w=60`},
			},
		},
		"the app's X-RateLimit is stricter": {
			response: ruleset.Response{Headers: []ruleset.HeaderFamily{ruleset.HeadersXRateLimit}},
			decision: limiter.Decision{Allowed: true, Limits: []limiter.LimitState{minuteState()}},
			app:      http.Header{"X-Ratelimit-Limit": {"5"}, "X-Ratelimit-Remaining": {"2"}},
			want:     http.Header{"X-Ratelimit-Limit": {"5"}, "X-Ratelimit-Remaining": {"2"}},
		},
		"the app's X-RateLimit is looser": {
			response: ruleset.Response{Headers: []ruleset.HeaderFamily{ruleset.HeadersXRateLimit}},
			decision: limiter.Decision{Allowed: true, Limits: []limiter.LimitState{minuteState()}},
			app:      http.Header{"X-Ratelimit-Limit": {"50"}, "X-Ratelimit-Remaining": {"20"}, "X-Ratelimit-Reset": {"1"}},
			want:     http.Header{"X-RateLimit-Limit": {"10"}, "X-RateLimit-Remaining": {"3"}, "X-RateLimit-Reset": {"42"}},
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := http.Header{}
			for field, values := range tc.app {
				got[field] = values
			}
			newLimitFields(&tc.decision, func(string, string) *ruleset.Response { return &tc.response }).addTo(got)
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("header (-want +got):\n%s", diff)
			}
			for _, field := range []string{"RateLimit", "RateLimit-Policy"} {
				if _, err := httpsfv.UnmarshalList(got[field]); err != nil {
					t.Errorf("%s is not a list of RFC 9651: %v", field, err)
				}
			}
		})
	}
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
	text := string(appendString(nil, "a\"b\\c\x01\xc3\xa9"))
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
