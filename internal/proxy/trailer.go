// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package proxy

import (
	"maps"
	"net/http"
	"slices"
)

// neverTrailers are fields besides the hop-by-hop ones by which a request is framed,
// routed or identified. An application that joins trailers to the header would take
// them for what was sent, and counted, first (RFC 9110, section 6.5.1).
var neverTrailers = append([]string{"Content-Length", "Host", "Authorization", "Cookie", "Expect"}, forwardedFields...)

// trailerRule is which fields of a request's trailer pass: those that its header
// announces.
type trailerRule struct {
	trailer http.Header
	passes  map[string]bool
}

// ruleForTrailer takes from a trailer whose values are still to come the announced
// fields that must not be in one.
func ruleForTrailer(trailer http.Header) trailerRule {
	rule := trailerRule{trailer: trailer}
	if len(trailer) == 0 {
		return rule
	}
	maps.DeleteFunc(trailer, func(name string, _ []string) bool {
		return slices.Contains(neverTrailers, name) || slices.Contains(hopByHop, name)
	})
	rule.passes = make(map[string]bool, len(trailer))
	for name := range trailer {
		rule.passes[name] = true
	}
	return rule
}

// apply is for when the values have come, and perhaps others.
func (r trailerRule) apply() {
	maps.DeleteFunc(r.trailer, func(name string, _ []string) bool { return !r.passes[name] })
}
