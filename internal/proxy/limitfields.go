// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package proxy

import (
	"net/http"
	"slices"
	"time"

	"github.com/penstock-dev/penstock/internal/limiter"
	"github.com/penstock-dev/penstock/internal/ruleset"
)

// limitFields are the header fields of an answer that tell about limits.
type limitFields struct {
	families []ruleset.HeaderFamily
	// limits are those that are told of, the speaking one first.
	limits []limiter.LimitState
	// refused says that the answer is a refusal.
	refused bool
	// retryAfter is the refusal's Retry-After in seconds; 0 if it has none.
	retryAfter int64
	// noPartitions leaves the partition keys out.
	noPartitions bool
}

// newLimitFields chooses what to tell about a decision. The policy of the
// speaking limit says which fields. It is nil if nothing is to be told.
func newLimitFields(decision *limiter.Decision, responses func(kind, policy string) *ruleset.Response) *limitFields {
	counted := toldLimits(decision.Limits)
	fields := &limitFields{limits: counted, refused: !decision.Allowed, retryAfter: retryAfterSeconds(decision)}
	if len(counted) > 0 {
		response := responses(counted[0].Kind, counted[0].Policy)
		if response != nil && (fields.refused || !response.OmitOnAllowed) {
			fields.families = response.Headers
		}
	}
	if len(fields.families) == 0 && !fields.refused {
		return nil
	}
	return fields
}

// toldLimits leaves out the limits that nobody counted, whose numbers mean nothing,
// and shadows, which are none of the client's business. One that is drawn is: it may
// refuse the next request, and fields that come and go would tell nobody anything.
func toldLimits(limits []limiter.LimitState) []limiter.LimitState {
	untold := func(state limiter.LimitState) bool {
		return state.Shadow && !state.Drawn || state.Source == limiter.StoreAllowed || state.Source == limiter.StoreDenied
	}
	if !slices.ContainsFunc(limits, untold) {
		return limits
	}
	return slices.DeleteFunc(slices.Clone(limits), untold)
}

// addTo adds the fields to an answer's header, beside the app's own.
func (f *limitFields) addTo(header http.Header) {
	if f == nil || len(f.families) == 0 {
		return
	}
	var roomText [usualFieldBytes]byte
	var roomLines [usualFieldLines]fieldLine
	lines := fieldLines{text: roomText[:0], lines: roomLines[:0]}
	for _, family := range f.families {
		switch family {
		case ruleset.HeadersRateLimit:
			f.addRateLimit(&lines, header)
		case ruleset.HeadersXRateLimit:
			f.addTriple(&lines, header, xRateLimitNames)
		case ruleset.HeadersDraft03:
			f.addTriple(&lines, header, draft03Names)
		}
	}
	lines.setIn(header)
}

// hidePartitions leaves the partition keys out: whoever reads the answer must not learn
// of whom it is.
func (f *limitFields) hidePartitions() {
	if f != nil {
		f.noPartitions = true
	}
}

// limitName names a limit in fields and problems: policy/rule/limit, with
// "cluster" before it where the policy is cluster-scoped.
func limitName(state *limiter.LimitState) string {
	return ruleset.PolicyLabel(state.Kind, state.Policy) + "/" + state.Rule + "/" + state.Limit
}

// wholeSeconds rounds up: a client that waits as long as it is told must not
// come too early.
func wholeSeconds(d time.Duration) int64 {
	if d <= 0 {
		return 0
	}
	return int64((d-1)/time.Second) + 1
}
