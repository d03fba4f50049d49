// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package compile

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/penstock-dev/penstock/api/v1alpha1"
)

func TestTheWeakerModeIsInForce(t *testing.T) {
	t.Parallel()
	const enforce, shadow, disabled = v1alpha1.ModeEnforce, v1alpha1.ModeShadow, v1alpha1.ModeDisabled
	tests := map[string]struct {
		policy v1alpha1.Mode
		rules  []v1alpha1.Mode
		// want are the compiled rules: true is a shadow.
		want     []bool
		wantMode v1alpha1.Mode
	}{
		"nothing said":            {rules: []v1alpha1.Mode{""}, want: []bool{false}, wantMode: enforce},
		"a shadow among others":   {policy: enforce, rules: []v1alpha1.Mode{enforce, shadow, disabled}, want: []bool{false, true}, wantMode: enforce},
		"only shadows":            {rules: []v1alpha1.Mode{shadow, disabled}, want: []bool{true}, wantMode: shadow},
		"a policy that is one":    {policy: shadow, rules: []v1alpha1.Mode{"", enforce, shadow, disabled}, want: []bool{true, true, true}, wantMode: shadow},
		"all disabled in one":     {policy: shadow, rules: []v1alpha1.Mode{disabled}, wantMode: disabled},
		"a policy that is off":    {policy: disabled, rules: []v1alpha1.Mode{enforce, shadow}, wantMode: disabled},
		"disabled rules, enforce": {policy: enforce, rules: []v1alpha1.Mode{disabled}, wantMode: disabled},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			result, rules := compileOne(t, nil, nil, newPolicy("web", func(p *v1alpha1.RateLimitPolicy) {
				p.Spec.Mode = tc.policy
				rule := p.Spec.Rules[0]
				p.Spec.Rules = nil
				for i, mode := range tc.rules {
					rule.Name, rule.Mode = string(rune('a'+i)), mode
					p.Spec.Rules = append(p.Spec.Rules, rule)
				}
			}))
			var got []bool
			for _, policy := range rules.Policies {
				for _, rule := range policy.Rules {
					got = append(got, rule.Shadow)
				}
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("shadows (-want +got):\n%s", diff)
			}
			if result.Effective.Mode != tc.wantMode {
				t.Errorf("the effective mode is %q, want %q", result.Effective.Mode, tc.wantMode)
			}
		})
	}
}
