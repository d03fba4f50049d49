// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package proxy

import (
	"fmt"
	"log/slog"
	"time"

	"github.com/penstock-dev/penstock/internal/limiter"
	"github.com/penstock-dev/penstock/internal/match"
	"github.com/penstock-dev/penstock/internal/ruleset"
)

// refusedBy says which limit refused a request, and whose it was. It is all that is
// told to those who run the app: an identity is a keyed hash, the one that the client
// gets as its partition key, and nothing tells an address, a path or a key.
type refusedBy struct {
	// policy is the policy's label, as in metrics.
	policy, rule string
	// limit is empty where the rule refuses requests without what it counts by.
	limit string
	// identity is empty where there is none.
	identity string
}

// observing is what is noted of refused requests.
type observing struct {
	log      refusalLog
	heaviest *heaviest
	labels   *keyLabels
}

func newObserving(options *Options, metrics *Metrics, logger *slog.Logger) (*observing, error) {
	labels, err := newKeyLabels(metrics.Registry, options.KeyLabels, options.KeyLabelSeries)
	if err != nil {
		return nil, fmt.Errorf("register metrics: %w", err)
	}
	return &observing{
		log:      newRefusalLog(logger, options.RefusalLogsPerSecond, time.Now),
		heaviest: newHeaviest(maxHeaviest), labels: labels,
	}, nil
}

// refused notes a request that limits refused, after it has been answered.
func (o *observing) refused(method string, writer *answerWriter, states []limiter.LimitState) {
	now, logged := time.Now(), false
	for i := range states {
		state := &states[i]
		if state.Allowed || state.Shadow {
			continue
		}
		by := refusedBy{policy: ruleset.PolicyLabel(state.Kind, state.Policy), rule: state.Rule, limit: state.Limit, identity: shownIdentity(state.Identity)}
		o.heaviest.add(by, now)
		if isFirstOfRule(states[:i], state) {
			o.labels.count(by)
		}
		if !logged {
			// The first is the speaking one.
			logged = true
			o.log.tell(by, outcomeOf(state), method, writer)
		}
	}
}

// lacking notes a request that lacks what a rule counts by.
func (o *observing) lacking(method string, writer *answerWriter, denied *match.Denied) {
	by := refusedBy{policy: ruleset.PolicyLabel(denied.Policy.Kind, denied.Policy.Name), rule: denied.Rule.Name}
	o.heaviest.add(by, time.Now())
	o.log.tell(by, outcomeDenied, method, writer, unverifiedFields(denied)...)
}
