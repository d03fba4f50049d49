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

// rulesOfManyTenants has a rule for each of so many values of a header or parameter, a
// quarter each by header, by host and header, by parameter, and by path and parameter;
// with a kind, all are of that.
func rulesOfManyTenants(count int, kind *int) *ruleset.RuleSet {
	rs := rulesOfManyPolicies(count)
	i := 0
	for p := range rs.Policies {
		for r := range rs.Policies[p].Rules {
			tenant, entry := fmt.Sprintf("t-%d", i), ruleset.Match{}
			header := []ruleset.ValueMatch{{Name: "x-tenant", Type: ruleset.ValueExact, Value: tenant}}
			parameter := []ruleset.ValueMatch{{Name: "tenant", Type: ruleset.ValueExact, Value: tenant}}
			of := i % 4
			if kind != nil {
				of = *kind
			}
			switch of {
			case 0:
				entry.Headers = header
			case 1:
				entry.Headers, entry.Hosts = header, []string{"a.test"}
			case 2:
				entry.QueryParams = parameter
			default:
				entry.QueryParams, entry.Path = parameter, &ruleset.PathMatch{Type: ruleset.PathPrefix, Value: "/v1"}
			}
			rs.Policies[p].Rules[r].Matches = []ruleset.Match{entry}
			i++
		}
	}
	return rs
}

func BenchmarkMatchAmongTenants(b *testing.B) {
	view := get("/v1/items?tenant=t-9000")
	view.host, view.headers = "a.test", map[string][]string{"x-tenant": {"t-9000"}}
	for kind, name := range []string{"Header", "HostAndHeader", "Parameter", "PathAndParameter"} {
		m := mustCompile(b, rulesOfManyTenants(10_000, &kind), nil)
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if result, err := m.Match(view); err != nil || len(result.Hits) != 1 {
					b.Fatalf("%d hits, error %v; want one", len(result.Hits), err)
				}
			}
		})
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
