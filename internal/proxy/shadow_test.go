// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package proxy

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/penstock-dev/penstock/internal/limiter"
	"github.com/penstock-dev/penstock/internal/ruleset"
)

// withShadow has a rule "tried" besides "all", that refuses nothing.
func withShadow() ruleset.Policy {
	policy := onePolicy()
	tried := policy.Rules[0]
	tried.Name, tried.Shadow, tried.OnStoreFailure = "tried", true, ruleset.FailDeny
	policy.Rules = append(policy.Rules, tried)
	return policy
}

func TestShadowsNeitherRefuseNorShow(t *testing.T) {
	t.Parallel()
	deciders := map[string]struct {
		decide     decideFunc
		wantStatus int
		want       map[string]string
	}{
		"a shadow would refuse": {
			decide: func(ctx context.Context, namespace string, checks []limiter.Check) (limiter.Decision, error) {
				decision, err := admitting(ctx, namespace, checks)
				last := &decision.Limits[1]
				last.Shadow, last.Allowed, last.Remaining = checks[1].Shadow, false, 0
				return decision, err
			},
			wantStatus: http.StatusOK, want: map[string]string{"all,allowed": "1", "tried,shadow_denied": "1"},
		},
		"both refuse": {
			decide: func(ctx context.Context, namespace string, checks []limiter.Check) (limiter.Decision, error) {
				decision, err := refusing(time.Second)(ctx, namespace, checks)
				decision.Limits[1].Shadow = checks[1].Shadow
				return decision, err
			},
			wantStatus: http.StatusTooManyRequests, want: map[string]string{"all,denied": "1", "tried,shadow_denied": "1"},
		},
		"nobody decides": {
			decide: func(context.Context, string, []limiter.Check) (limiter.Decision, error) {
				return limiter.Decision{}, errors.New("no verdict")
			},
			wantStatus: http.StatusOK, want: map[string]string{"all,store_allowed": "1", "tried,store_allowed": "1"},
		},
	}
	for name, tc := range deciders {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := start(t, startApp(t, okApp), rulesOf(t, withShadow()), tc.decide)
			response, body := send(t, http.MethodGet, f.url, nil, nil)
			if response.StatusCode != tc.wantStatus {
				t.Errorf("the answer is %d, want %d", response.StatusCode, tc.wantStatus)
			}
			told := body
			for field, values := range response.Header {
				told += "\n" + field + ": " + strings.Join(values, ", ")
			}
			if strings.Contains(told, "tried") {
				t.Errorf("the answer tells of a shadow:\n%s", told)
			}
			got := make(map[string]string)
			for series := range tc.want {
				rule, outcome, _ := strings.Cut(series, ",")
				got[series] = metric(t, f, `penstock_decisions_total{outcome="`+outcome+`",policy="web",rule="`+rule+`"}`)
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("outcomes (-want +got):\n%s", diff)
			}
		})
	}
}
