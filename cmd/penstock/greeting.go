// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"cmp"
	"fmt"
	"io"
	"net"
	"net/http"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/penstock-dev/penstock/internal/ruleset"
)

// greeting is what a person wants to know when run has started.
type greeting struct {
	upstream  string
	store     string
	listening net.Addr
	// admin is empty if there is none.
	admin     []net.Addr
	ruleSet   *ruleset.RuleSet
	documents []*document
}

// greet says what is in force and how to try it.
func greet(to io.Writer, g *greeting) {
	var text strings.Builder
	table := tabwriter.NewWriter(&text, 0, 0, 2, ' ', 0)
	line := func(cells ...string) { _, _ = fmt.Fprintln(table, strings.Join(cells, "\t")) }
	line("listening:", "http://"+g.listening.String())
	line("app:", g.upstream)
	line("counting in:", g.store)
	for _, address := range g.admin {
		line("metrics:", "http://"+address.String()+"/metrics")
	}
	for i := range g.ruleSet.Policies {
		policy := &g.ruleSet.Policies[i]
		for j := range policy.Rules {
			line("rule:", policy.Name+"/"+policy.Rules[j].Name+": "+sentence(&policy.Rules[j]))
		}
	}
	if len(g.ruleSet.Policies) == 0 {
		line("rule:", "none is in force, every request passes")
	}
	if g.namesPods() {
		line("note:", "there are no pods here: targetRefs and selector are ignored")
	}
	line("try it:", example("http://"+g.listening.String(), g.ruleSet))
	line("end it:", "Ctrl-C")
	_ = table.Flush()
	// An output that is closed is no reason to end.
	_, _ = io.WriteString(to, text.String())
}

// namesPods reports whether a policy is for some pods only.
func (g *greeting) namesPods() bool {
	for _, d := range g.documents {
		selector := d.policy.Spec.Selector
		if selector == nil || len(selector.MatchLabels)+len(selector.MatchExpressions) > 0 {
			return true
		}
	}
	return false
}

// sentence says what a rule does.
func sentence(rule *ruleset.Rule) string {
	choices := []string{limitsText(rule.Limits)}
	for i := range rule.Tiers {
		choices = append(choices, limitsText(rule.Tiers[i].Limits)+" where "+rule.Tiers[i].When)
	}
	text := strings.Join(choices, ", or ") + keyText(rule.Key) + matchText(rule.Matches)
	if len(rule.When) > 0 {
		text += ", where " + strings.Join(rule.When, " and ")
	}
	return text + termsText(rule)
}

func limitsText(limits []ruleset.Limit) string {
	if len(limits) == 0 {
		return "unlimited"
	}
	var texts []string
	for i := range limits {
		limit := &limits[i]
		text := fmt.Sprintf("%d %s (%s", limit.Requests, windowText(limit), limit.Algorithm)
		if limit.Burst != limit.Requests {
			text += fmt.Sprintf(", burst %d", limit.Burst)
		}
		texts = append(texts, text+")")
	}
	return strings.Join(texts, " and ")
}

func keyText(parts []ruleset.KeyPart) string {
	if len(parts) == 0 {
		return " for all together"
	}
	var texts []string
	for _, part := range parts {
		var sources []string
		for _, source := range part.From {
			// Whoever runs this wrote the policy, and so the expression.
			text := source.Words()
			if source.Kind == ruleset.SourceExpression {
				text = source.Name
			}
			sources = append(sources, text)
		}
		texts = append(texts, strings.Join(sources, " or else "))
	}
	return " for each " + strings.Join(texts, " and ")
}

func matchText(matches []ruleset.Match) string {
	if len(matches) == 0 {
		return ", every request"
	}
	var texts []string
	for _, m := range matches {
		text := strings.Join(m.Methods, "|")
		if m.Path != nil {
			text += " " + m.Path.Value
			if m.Path.Type == ruleset.PathPrefix {
				text += " and below"
			}
		}
		text = cmp.Or(strings.TrimSpace(text), "any path")
		if len(m.Hosts) > 0 {
			text += " at " + strings.Join(m.Hosts, "|")
		}
		text += conditionsText(" with header ", m.Headers) + conditionsText(" with parameter ", m.QueryParams)
		texts = append(texts, text)
	}
	return ", on " + strings.Join(texts, "; ")
}

// conditionsText tells of headers or parameters that a match asks for.
func conditionsText(what string, conditions []ruleset.ValueMatch) string {
	var text strings.Builder
	for _, c := range conditions {
		text.WriteString(what + c.Name)
		switch c.Type {
		case ruleset.ValueExact:
			text.WriteString(" = " + c.Value)
		case ruleset.ValueRegularExpression:
			text.WriteString(" ~ " + c.Value)
		case ruleset.ValueAbsent:
			text.WriteString(" absent")
		}
	}
	return text.String()
}

// example is a command that meets the first rule.
func example(url string, rules *ruleset.RuleSet) string {
	for _, policy := range rules.Policies {
		for _, rule := range policy.Rules {
			return exampleOf(url, &rule)
		}
	}
	return "curl -i " + url + "/"
}

func exampleOf(url string, rule *ruleset.Rule) string {
	words, path := []string{"curl", "-i"}, "/"
	if len(rule.Matches) > 0 {
		match := rule.Matches[0]
		if len(match.Methods) > 0 && !slices.Contains(match.Methods, http.MethodGet) {
			words = append(words, "-X", match.Methods[0])
		}
		if match.Path != nil {
			path = match.Path.Value
		}
	}
	for _, part := range rule.Key {
		if source := part.From[0]; source.Kind == ruleset.SourceHeader {
			words = append(words, "-H", "'"+http.CanonicalHeaderKey(source.Name)+": me'")
		}
	}
	return strings.Join(append(words, url+path), " ")
}

func windowText(limit *ruleset.Limit) string {
	switch {
	case limit.Algorithm == ruleset.Concurrency:
		return "at once"
	case limit.Calendar != nil:
		return "per " + strings.ToLower(string(limit.Calendar.Period)) + " of the calendar in " + limit.Calendar.TimeZone
	}
	return "per " + shortDuration(limit.WindowMicros)
}

// shortDuration writes a window without units that are zero: 1m, not 1m0s.
func shortDuration(micros int64) string {
	text := (time.Duration(micros) * time.Microsecond).String()
	if strings.HasSuffix(text, "m0s") {
		text = strings.TrimSuffix(text, "0s")
	}
	if strings.HasSuffix(text, "h0m") {
		text = strings.TrimSuffix(text, "0m")
	}
	return text
}
