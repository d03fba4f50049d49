// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package match

import (
	"fmt"
	"testing"

	"github.com/penstock-dev/penstock/internal/ruleset"
)

// rulesOfManyPolicies is a rule set with so many rules, at most 64 to a policy, of all
// kinds of matches. Few of them are for any one request.
func rulesOfManyPolicies(count int) *ruleset.RuleSet {
	const rulesOfAPolicy = 64
	rs := rulesWith()
	policy := rs.Policies[0]
	rs.Policies = nil
	for i := range count {
		if i%rulesOfAPolicy == 0 {
			policy.Name = fmt.Sprintf("policy-%d", i/rulesOfAPolicy)
			rs.Policies = append(rs.Policies, policy)
		}
		last := &rs.Policies[len(rs.Policies)-1]
		last.Rules = append(last.Rules, ruleset.Rule{Name: fmt.Sprintf("rule-%d", i), Matches: []ruleset.Match{matchOfKind(i)}})
	}
	return rs
}

func matchOfKind(i int) ruleset.Match {
	on := func(kind ruleset.PathMatchType, format string) ruleset.Match {
		return ruleset.Match{Path: &ruleset.PathMatch{Type: kind, Value: fmt.Sprintf(format, i)}}
	}
	switch i % 5 {
	case 0:
		return on(ruleset.PathExact, "/shop/items/item-%d")
	case 1:
		return on(ruleset.PathPrefix, "/service-%d/api")
	case 2:
		return on(ruleset.PathTemplate, "/users/{id}/part-%d")
	case 3:
		return on(ruleset.PathRegularExpression, "/files-%d/.*[.](zip|gz)")
	default:
		return ruleset.Match{Hosts: []string{fmt.Sprintf("shop-%d.example.com", i), fmt.Sprintf("*.tenant-%d.example.com", i)}}
	}
}

func BenchmarkMatchAmongRules(b *testing.B) {
	for _, rules := range []int{1, 100, 10_000} {
		m := mustCompile(b, rulesOfManyPolicies(rules), nil)
		last := rules - rules%100
		for name, view := range map[string]*fakeView{
			"Exact":    get(fmt.Sprintf("/shop/items/item-%d", max(last-100, 0))),
			"Template": get(fmt.Sprintf("/users/1234/part-%d", max(last-98, 2))),
			"NoRule":   get("/static/app.js"),
		} {
			b.Run(fmt.Sprintf("%s/%d", name, rules), func(b *testing.B) {
				b.ReportAllocs()
				for b.Loop() {
					if _, err := m.Match(view); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}
