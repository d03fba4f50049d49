// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package proxy

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/penstock-dev/penstock/internal/ruleset"
)

// rulesView is what /debug/rules tells.
type rulesView struct {
	// State is what /readyz says.
	State    string `json:"state"`
	Revision string `json:"revision,omitempty"`
	// Sequence is 0 where the rules come from no store.
	Sequence  int64      `json:"sequence,omitempty"`
	Namespace string     `json:"namespace,omitempty"`
	Since     *time.Time `json:"since,omitempty"`
	// Confirmed is when the rules were last known to be the newest.
	Confirmed *time.Time `json:"confirmed,omitempty"`
	Rules     []ruleView `json:"rules"`
}

type ruleView struct {
	// Policy and Rule are as in metrics.
	Policy           string   `json:"policy"`
	PolicyGeneration int64    `json:"policyGeneration,omitempty"`
	Rule             string   `json:"rule"`
	Mode             string   `json:"mode"`
	Limits           []string `json:"limits"`
	// Decisions are how many requests had each outcome since this process began, or
	// since the rule is there.
	Decisions map[string]int64 `json:"decisions"`
}

func (s *Server) rulesView() (debugView, error) {
	_, state := s.readiness()
	view := &rulesView{State: state, Rules: []ruleView{}}
	rules := s.gate.current.Load()
	if rules == nil {
		return view, nil
	}
	counts, err := s.metrics.outcomeCounts()
	if err != nil {
		return nil, err
	}
	confirmed := time.Unix(0, s.gate.confirmed.Load()).UTC()
	view.Revision, view.Sequence, view.Namespace = rules.Revision, rules.Sequence, rules.Namespace
	view.Since, view.Confirmed = &rules.since, &confirmed
	for policy := range rules.Matcher.Policies() {
		for i := range policy.Rules {
			view.Rules = append(view.Rules, viewOf(policy, &policy.Rules[i], counts))
		}
	}
	return view, nil
}

func viewOf(policy *ruleset.Policy, rule *ruleset.Rule, counts map[RuleName]map[string]int64) ruleView {
	name := NameOf(policy, rule)
	view := ruleView{Policy: name.Policy, PolicyGeneration: policy.Generation, Rule: name.Rule, Mode: "Enforce", Decisions: counts[name]}
	switch {
	case rule.Shadow:
		view.Mode = "Shadow"
	case rule.EnforcePercent != nil:
		view.Mode = fmt.Sprintf("Enforce %d %%", *rule.EnforcePercent)
	}
	for i := range rule.Limits {
		view.Limits = append(view.Limits, limitText(&rule.Limits[i]))
	}
	for i := range rule.Tiers {
		tier := &rule.Tiers[i]
		if len(tier.Limits) == 0 {
			view.Limits = append(view.Limits, tier.Name+": unlimited")
		}
		for j := range tier.Limits {
			view.Limits = append(view.Limits, tier.Name+": "+limitText(&tier.Limits[j]))
		}
	}
	if view.Decisions == nil {
		view.Decisions = map[string]int64{}
	}
	return view
}

// limitText is a limit in a few words.
func limitText(limit *ruleset.Limit) string {
	text := fmt.Sprintf("%s %d ", limit.Name, limit.Requests)
	switch {
	case limit.Algorithm == ruleset.Concurrency:
		text += "at once"
	case limit.Calendar != nil:
		text += "per " + strings.ToLower(string(limit.Calendar.Period)) + " in " + limit.Calendar.TimeZone
	default:
		text += "per " + perText(time.Duration(limit.WindowMicros)*time.Microsecond)
	}
	if limit.Burst != limit.Requests {
		text += fmt.Sprintf(", burst %d", limit.Burst)
	}
	return text + " (" + string(limit.Algorithm) + ")"
}

func (v *rulesView) writeText(to io.Writer) {
	table := tabwriter.NewWriter(to, 0, 0, 2, ' ', 0)
	line := func(cells ...string) { _, _ = fmt.Fprintln(table, strings.Join(cells, "\t")) }
	line("state:", v.State)
	if v.Since != nil {
		line("revision:", v.Revision)
		if v.Sequence > 0 {
			line("sequence:", strconv.FormatInt(v.Sequence, 10))
		}
		line("namespace:", v.Namespace)
		line("in force since:", v.Since.Format(time.RFC3339))
		line("known to be the newest at:", v.Confirmed.Format(time.RFC3339))
	}
	line("")
	line("POLICY", "RULE", "MODE", "LIMITS", "REQUESTS")
	for i := range v.Rules {
		rule := &v.Rules[i]
		line(rule.Policy, rule.Rule, rule.Mode, strings.Join(rule.Limits, "; "), countsText(rule.Decisions))
	}
	// A buffer takes everything.
	_ = table.Flush()
}

func countsText(counts map[string]int64) string {
	if len(counts) == 0 {
		return "none"
	}
	var texts []string
	for _, outcome := range slices.Sorted(maps.Keys(counts)) {
		texts = append(texts, fmt.Sprintf("%s %d", outcome, counts[outcome]))
	}
	return strings.Join(texts, ", ")
}
