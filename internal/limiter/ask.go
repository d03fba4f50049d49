// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package limiter

import (
	"sync"

	"github.com/penstock-dev/penstock/internal/keys"
)

// mostFollowed is how often a part is sent again that nobody has executed: once since
// a call for several clients did not suit a slot that is moving, and once to where the
// slot is.
const mostFollowed = 2

// question is what is asked of the store for one request, and what came of it. Most
// have one part, for which there is room here: it needs no memory of its own.
type question struct {
	// pattern is the request to each node but for its parts.
	pattern request
	parts   []*part
	// errs is why a part was not served. A part with an error must not be looked at, as
	// it may be under way still.
	errs []error

	first     part
	roomParts [1]*part
	roomErrs  [1]error
}

// split puts the checks that are in the same slot together. Limits of one identity are.
func (q *question) split(prefix keys.Prefix, isCluster bool, checks []Check, plans []plan) {
	if !isCluster {
		names := make([]string, len(checks))
		for i := range checks {
			names[i] = prefix.Counter(q.pattern.namespace, checks[i].Identity, checks[i].Limit.Key)
		}
		*q.partOf(0) = part{checks: checks, names: names, plans: plans}
		return
	}
	for i := range checks {
		name := prefix.Counter(q.pattern.namespace, checks[i].Identity, checks[i].Limit.Key)
		p := q.partOf(keys.Slot(name))
		p.names, p.checks, p.plans = append(p.names, name), append(p.checks, checks[i]), append(p.plans, plans[i])
	}
}

// splitCorrections puts the corrections that are in the same slot together.
func (q *question) splitCorrections(isCluster bool, corrections []correction) {
	for i := range corrections {
		slot := 0
		if isCluster {
			slot = keys.Slot(corrections[i].name)
		}
		p := q.partOf(slot)
		p.names, p.corrections = append(p.names, corrections[i].name), append(p.corrections, corrections[i])
	}
}

// partOf is the part of a slot, added if there is none.
func (q *question) partOf(slot int) *part {
	for _, p := range q.parts {
		if p.slot == slot {
			return p
		}
	}
	added := &q.first
	if len(q.parts) == 0 {
		q.parts = q.roomParts[:0]
	} else {
		added = new(part)
	}
	added.slot = slot
	q.parts = append(q.parts, added)
	return added
}

// ask has each part served by the node that has its slot, all nodes side by side.
func (r *Redis) ask(q *question) {
	q.errs = append(q.roomErrs[:0], make([]error, len(q.parts))...)
	current := r.layout.Load()
	if current.only != nil {
		// Everything is in one part there.
		q.pattern.parts = q.parts
		if q.errs[0] = current.only.ask(&q.pattern); q.errs[0] == nil {
			q.errs[0] = q.first.err
		}
		return
	}
	errands := make([]errand, 0, len(q.parts))
	for i, p := range q.parts {
		errands = append(errands, errand{part: p, index: i, node: current.nodeOf(p.slot)})
	}
	for followed := 0; ; followed++ {
		r.send(&q.pattern, errands, q.errs)
		if followed == mostFollowed {
			return
		}
		if errands = r.follow(errands, q.errs); len(errands) == 0 {
			return
		}
	}
}

// errand is a part on its way to a node, nil if none is known to have its slot.
type errand struct {
	part *part
	// index is the part's place in the request.
	index int
	node  *node
}

// send sends the errands, one request to each node.
func (r *Redis) send(pattern *request, errands []errand, errs []error) {
	var running sync.WaitGroup
	for len(errands) > 0 {
		own, others := errandsOf(errands[0].node, errands)
		errands = others
		if len(others) == 0 {
			r.sendTo(own, pattern, errs)
			break
		}
		running.Go(func() { r.sendTo(own, pattern, errs) })
	}
	running.Wait()
}

// errandsOf parts the errands to one node from the others.
func errandsOf(n *node, errands []errand) (own, others []errand) {
	for _, e := range errands {
		if e.node == n {
			own = append(own, e)
		} else {
			others = append(others, e)
		}
	}
	return own, others
}

// sendTo sends errands to their one node.
func (r *Redis) sendTo(group []errand, pattern *request, errs []error) {
	asked := &request{ctx: pattern.ctx, namespace: pattern.namespace, deadline: pattern.deadline}
	for _, e := range group {
		asked.parts = append(asked.parts, e.part)
	}
	var err error
	if n := group[0].node; n != nil {
		err = n.ask(asked)
	} else {
		err = r.cluster.unknown()
	}
	for _, e := range group {
		errs[e.index] = err
		if err == nil {
			errs[e.index] = e.part.err
		}
	}
}

// follow is where the parts go next that were sent to a node which does not have their
// slot, or not wholly: nothing of them was executed. A node to which no connection is
// open is not asked: that remains the part's error.
func (r *Redis) follow(errands []errand, errs []error) []errand {
	var next []errand
	for _, e := range errands {
		to, elsewhere := redirectIn(errs[e.index])
		if !elsewhere {
			continue
		}
		if to.address != "" {
			r.cluster.lookSoon()
			e.node = r.layout.Load().nodes[to.addressFrom(e.node)]
		}
		if e.node == nil {
			continue
		}
		e.part.asking, e.part.alone = to.asking, true
		next = append(next, e)
	}
	return next
}
