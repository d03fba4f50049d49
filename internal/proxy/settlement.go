// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package proxy

import (
	"net/http"
	"slices"

	"github.com/penstock-dev/penstock/internal/limiter"
	"github.com/penstock-dev/penstock/internal/match"
	"github.com/penstock-dev/penstock/internal/ruleset"
)

// settlement is what an admitted request owes once it has been answered, or however
// else it ends.
type settlement struct {
	// receipt is nil where the charges are final.
	receipt *limiter.Receipt
	hits    []match.Hit
}

// settle must be called once for every admitted request.
func (s *settlement) settle(writer *answerWriter) {
	if s.receipt == nil {
		return
	}
	s.receipt.Settle(func(check *limiter.Check) int64 {
		for i := range s.hits {
			if s.hits[i].Rule.Name == check.Rule && s.hits[i].Policy.Name == check.Policy && s.hits[i].Policy.Kind == check.Kind {
				return dueFor(s.hits[i].Rule.Cost, check.Cost, writer.status, writer.Header())
			}
		}
		return check.Cost
	})
}

// dueFor is what a request costs in the end, of which reserved was charged before.
// The status is the one that its client got. A client that left before there was one
// is charged what was reserved: else it could try for free, and never see the answer.
func dueFor(cost *ruleset.Cost, reserved int64, status int, header http.Header) int64 {
	switch {
	case cost == nil || status == 0 || status == statusClientGone:
		return reserved
	case len(cost.CountOn) > 0 && !slices.Contains(cost.CountOn, status):
		return 0
	case cost.Response == nil:
		return reserved
	}
	return reserved + toldCost(cost.Response, header)
}

// toldCost is the cost that an answer tells in its header, or of a streamed answer in
// its trailer: the largest of several. What is no whole number adds nothing.
func toldCost(cost *ruleset.ResponseCost, header http.Header) int64 {
	name, told := http.CanonicalHeaderKey(cost.Header), int64(0)
	for _, values := range [][]string{header[name], header[http.TrailerPrefix+name]} {
		for _, value := range values {
			if number, ok := match.WholeNumber(value, cost.Max); ok {
				told = max(told, number)
			}
		}
	}
	return told
}
