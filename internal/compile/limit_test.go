// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package compile

import (
	"math/big"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/penstock-dev/penstock/api/v1alpha1"
	"github.com/penstock-dev/penstock/internal/ruleset"
)

func TestParseDuration(t *testing.T) {
	t.Parallel()
	tests := map[v1alpha1.Duration]struct {
		want    time.Duration
		wantErr bool
	}{
		"1s": {want: time.Second}, "1m30s": {want: 90 * time.Second}, "10ms": {want: 10 * time.Millisecond},
		"9600h": {want: 9600 * time.Hour}, "0s": {}, "1h1m1s1ms": {want: time.Hour + time.Minute + time.Second + time.Millisecond},
		"": {wantErr: true}, "1": {wantErr: true}, "1.5s": {wantErr: true}, "-1s": {wantErr: true}, "1d": {wantErr: true},
		"1us": {wantErr: true}, "100000s": {wantErr: true}, "1h1m1s1ms1h": {wantErr: true}, " 1s": {wantErr: true}, "1s\n": {wantErr: true},
	}
	for text, tc := range tests {
		t.Run(string(text), func(t *testing.T) {
			t.Parallel()
			got, err := parseDuration(text)
			if got != tc.want || (err != nil) != tc.wantErr {
				t.Errorf("parseDuration(%q) = %v, %v; want %v, error %t", text, got, err, tc.want, tc.wantErr)
			}
		})
	}
}

// TestWhatIsNoDurationIsToldWhatItMeans has the message of each say it.
func TestWhatIsNoDurationIsToldWhatItMeans(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"60": "60s", "1 m": "1m", "1 minute": "1m", "5 Minutes": "5m", "1.5h": "1h30m", "1d": "24h", "2 weeks": "336h", "86400": "86400s",
		"604800": "168h", "1500 ms": "1s500ms", "1h 30": "1h30s", "100000s": "27h46m40s",
	} {
		_, err := parseDuration(v1alpha1.Duration(text))
		if err == nil || !strings.Contains(err.Error(), "write "+want+" if that is meant") {
			t.Errorf("%q: %v, want %s", text, err, want)
		}
		if _, err := parseDuration(v1alpha1.Duration(want)); err != nil {
			t.Errorf("what is suggested for %q is no duration: %v", text, err)
		}
	}
	for _, text := range []string{"", "soon", "-60", "0", "1us", "1y", "1:30", "99999999999999999999", strings.Repeat("9", 400) + "h", "1.s"} {
		if got := SuggestDuration(text); got != "" {
			t.Errorf("%q is taken for %s", text, got)
		}
	}
}

func TestDurationTextIsReadBack(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		want := time.Duration(rapid.Int64Range(0, maxWindow.Milliseconds()).Draw(t, "ms")) * time.Millisecond
		if got, err := parseDuration(durationText(want)); err != nil || got != want {
			t.Fatalf("%v is written as %s, and read back as %v, %v", want, durationText(want), got, err)
		}
	})
}

func TestCalendarIsCompiled(t *testing.T) {
	t.Parallel()
	policy := newPolicy("web", func(p *v1alpha1.RateLimitPolicy) {
		p.Spec.Rules[0].Limits = []v1alpha1.Limit{
			{Name: "day", Requests: 10, Calendar: &v1alpha1.Calendar{Period: v1alpha1.CalendarDay}},
			{Name: "month", Requests: 99, Algorithm: v1alpha1.AlgorithmFixedWindow, Calendar: &v1alpha1.Calendar{Period: v1alpha1.CalendarMonth, TimeZone: "Europe/Berlin"}},
		}
	})
	result, rules := compileOne(t, nil, nil, policy)
	got := rules.Policies[0].Rules[0].Limits
	want := []ruleset.Limit{
		{Name: "day", Algorithm: ruleset.FixedWindow, Requests: 10, Burst: 10, Calendar: &ruleset.Calendar{Period: ruleset.PeriodDay, TimeZone: "UTC"}, Key: got[0].Key},
		{Name: "month", Algorithm: ruleset.FixedWindow, Requests: 99, Burst: 99, Calendar: &ruleset.Calendar{Period: ruleset.PeriodMonth, TimeZone: "Europe/Berlin"}, Key: got[1].Key},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("limits (-want +got):\n%s", diff)
	}
	if algorithm := result.Effective.Defaults.Algorithm; algorithm != "" {
		t.Errorf("the default %q was shown for calendars, whose algorithm is no default", algorithm)
	}
}

func TestCoarseLimitsAreShown(t *testing.T) {
	t.Parallel()
	policy := newPolicy("web", func(p *v1alpha1.RateLimitPolicy) {
		p.Spec.Rules[0].Limits = []v1alpha1.Limit{
			{Name: "exact", Requests: 1000, Window: "1h", Algorithm: v1alpha1.AlgorithmSlidingWindowCounter},
			{Name: "bucket", Requests: maxRequests, Window: "9600h"},
			{Name: "month", Requests: 1_000_000, Window: "720h", Algorithm: v1alpha1.AlgorithmSlidingWindowCounter},
			{Name: "huge", Requests: maxRequests, Window: "9600h", Algorithm: v1alpha1.AlgorithmSlidingWindowCounter},
		}
	})
	result, _ := compileOne(t, nil, nil, policy)
	want := []v1alpha1.CoarseLimit{{Limit: "all/month", Resolution: "1ms"}, {Limit: "all/huge", Resolution: "8s240ms"}}
	if diff := cmp.Diff(want, result.Effective.Coarse); diff != "" {
		t.Errorf("coarse limits (-want +got):\n%s", diff)
	}
	// What answers correct is counted up to four times as far.
	policy.Spec.Rules[0].Cost = &v1alpha1.Cost{CountOn: &v1alpha1.CountOn{StatusCodes: []string{"401"}}}
	result, _ = compileOne(t, nil, nil, policy)
	want[0].Resolution, want[1].Resolution = "2ms", "32s960ms"
	if diff := cmp.Diff(want, result.Effective.Coarse); diff != "" {
		t.Errorf("coarse limits of corrected costs (-want +got):\n%s", diff)
	}
}

func TestParseLooseness(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		want    int64
		wantErr bool
	}{
		"1.5": {want: 1500}, "1": {want: 1000}, "0.001": {want: 1}, "999.999": {want: 999999}, "1.05": {want: 1050}, "01": {want: 1000},
		"": {wantErr: true}, "0": {wantErr: true}, "0.000": {wantErr: true}, "1.": {wantErr: true}, ".5": {wantErr: true},
		"1.0001": {wantErr: true}, "1e3": {wantErr: true}, "-1": {wantErr: true}, "1000": {wantErr: true}, "1,5": {wantErr: true},
	}
	for text, tc := range tests {
		t.Run(text, func(t *testing.T) {
			t.Parallel()
			got, err := parseLooseness(text)
			if got != tc.want || (err != nil) != tc.wantErr {
				t.Errorf("parseLooseness(%q) = %d, %v; want %d, error %t", text, got, err, tc.want, tc.wantErr)
			}
		})
	}
}

func TestFillTimeIsComparedExactly(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		burst := rapid.Int64Range(1, maxRequests).Draw(t, "burst")
		window := rapid.Int64Range(minWindow.Microseconds(), maxWindow.Microseconds()).Draw(t, "window")
		requests := rapid.Int64Range(1, maxRequests).Draw(t, "requests")
		fill := new(big.Rat).SetFrac(
			new(big.Int).Mul(big.NewInt(burst), big.NewInt(window)), big.NewInt(requests))
		want := fill.Cmp(new(big.Rat).SetInt64(maxFill.Microseconds())) > 0
		if got := fillExceeds(burst, window, requests, maxFill); got != want {
			t.Fatalf("fillExceeds(%d, %d, %d) = %t, want %t", burst, window, requests, got, want)
		}
	})
}

func TestLimitKeyDependsOnNamesAlgorithmAndWindow(t *testing.T) {
	t.Parallel()
	limit := ruleset.Limit{Name: "minute", Algorithm: ruleset.TokenBucket, Requests: 60, WindowMicros: 60e6, Burst: 60}
	base := limitKey("RateLimitPolicy", "web", "login", "", "", &limit)
	if base != "Jyuoh2il" {
		// Another key would start all counts afresh with the next version.
		t.Errorf("the key is %q, want that of versions before", base)
	}
	edited := limit
	edited.Requests, edited.Burst = 100, 200
	if got := limitKey("RateLimitPolicy", "web", "login", "", "", &edited); got != base {
		t.Errorf("an edit of requests and burst changed the key from %q to %q", base, got)
	}
	window, algorithm := limit, limit
	window.WindowMicros++
	calendar, zone, period := limit, limit, limit
	calendar.Calendar = &ruleset.Calendar{Period: ruleset.PeriodDay, TimeZone: "UTC"}
	zone.Calendar = &ruleset.Calendar{Period: ruleset.PeriodDay, TimeZone: "Europe/Berlin"}
	period.Calendar = &ruleset.Calendar{Period: ruleset.PeriodWeek, TimeZone: "UTC"}
	algorithm.Algorithm = ruleset.FixedWindow
	others := map[string]string{
		"kind":      limitKey("ClusterRateLimitPolicy", "web", "login", "", "", &limit),
		"policy":    limitKey("RateLimitPolicy", "api", "login", "", "", &limit),
		"rule":      limitKey("RateLimitPolicy", "web", "search", "", "", &limit),
		"tier":      limitKey("RateLimitPolicy", "web", "login", "pro", "", &limit),
		"target":    limitKey("RateLimitPolicy", "web", "login", "", "Deployment/web", &limit),
		"window":    limitKey("RateLimitPolicy", "web", "login", "", "", &window),
		"algorithm": limitKey("RateLimitPolicy", "web", "login", "", "", &algorithm),
		"calendar":  limitKey("RateLimitPolicy", "web", "login", "", "", &calendar),
		"zone":      limitKey("RateLimitPolicy", "web", "login", "", "", &zone),
		"period":    limitKey("RateLimitPolicy", "web", "login", "", "", &period),
		"boundary":  limitKey("RateLimitPolicy", "webl", "ogin", "", "", &limit),
	}
	seen := map[string]string{base: "the limit itself"}
	for what, key := range others {
		if other, taken := seen[key]; taken {
			t.Errorf("another %s has the key of %s", what, other)
		}
		seen[key] = "another " + what
	}
}
