// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package controllers

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"

	"github.com/penstock-dev/penstock/api/v1alpha1"
	"github.com/penstock-dev/penstock/internal/store"
)

func TestStoreConditions(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		found       finding
		want        string // Accepted Connected Ready, as Status/Reason
		wantStalled bool
	}{
		"connected": {want: "True/Accepted True/Connected True/Ready"},
		"refused by nobody": {
			found: finding{err: errors.New("dial tcp 192.0.2.1:6379: connect: connection refused")},
			want:  "True/Accepted False/Unreachable False/Unreachable",
		},
		"wrong password": {
			found:       finding{err: errors.New("claim key prefix: WRONGPASS invalid username-password pair")},
			want:        "True/Accepted False/CredentialsRefused False/CredentialsRefused",
			wantStalled: true,
		},
		"secret missing": {
			found:       finding{err: fmt.Errorf("connect: %w", secretError{errors.New("secret not found")})},
			want:        "True/Accepted False/CredentialsRefused False/CredentialsRefused",
			wantStalled: true,
		},
		"another cluster's": {
			found:       finding{err: fmt.Errorf("claim: %w", store.ErrPrefixInUse)},
			want:        "True/Accepted False/PrefixInUse False/PrefixInUse",
			wantStalled: true,
		},
		"not implemented": {
			found: finding{
				problems: []v1alpha1.Problem{{Field: "spec.isolation", Reason: v1alpha1.ReasonNotImplemented, Message: "use Shared"}},
				err:      errNotImplemented,
			},
			want:        "False/NotImplemented Unknown/NotImplemented False/NotImplemented",
			wantStalled: true,
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := storeConditions(3, tc.found)
			text := ""
			for _, kind := range []string{v1alpha1.ConditionAccepted, v1alpha1.ConditionConnected, v1alpha1.ConditionReady} {
				condition := meta.FindStatusCondition(got, kind)
				text += fmt.Sprintf(" %s/%s", condition.Status, condition.Reason)
			}
			if text[1:] != tc.want {
				t.Errorf("Accepted Connected Ready are %s, want %s", text[1:], tc.want)
			}
			if stalled := meta.IsStatusConditionTrue(got, v1alpha1.ConditionStalled); stalled != tc.wantStalled {
				t.Errorf("stalled is %v, want %v", stalled, tc.wantStalled)
			}
		})
	}
}

func TestSteadyRoundTrip(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		old      v1alpha1.Duration
		measured time.Duration
		want     v1alpha1.Duration
	}{
		"first":          {measured: 300 * time.Microsecond, want: "1ms"},
		"noise":          {old: "2ms", measured: 5 * time.Millisecond, want: "2ms"},
		"slower":         {old: "2ms", measured: 20 * time.Millisecond, want: "20ms"},
		"faster":         {old: "20ms", measured: 2 * time.Millisecond, want: "2ms"},
		"edited by hand": {old: "soon", measured: 2 * time.Millisecond, want: "2ms"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := steadyRoundTrip(tc.old, tc.measured); got != tc.want {
				t.Errorf("round trip is %s, want %s", got, tc.want)
			}
		})
	}
}
