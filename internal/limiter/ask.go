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

// split puts the checks of one request that are in the same slot together. Limits of
// one identity are.
func (r *Redis) split(namespace string, checks []Check, plans []plan) []*part {
	if !r.layout.Load().isCluster() {
		names := make([]string, len(checks))
		for i := range checks {
			names[i] = r.prefix.Counter(namespace, checks[i].Identity, checks[i].Limit.Key)
		}
		return []*part{{checks: checks, names: names, plans: plans}}
	}
	var parts []*part
	for i := range checks {
		name := r.prefix.Counter(namespace, checks[i].Identity, checks[i].Limit.Key)
		p := partOf(&parts, keys.Slot(name))
		p.names, p.checks, p.plans = append(p.names, name), append(p.checks, checks[i]), append(p.plans, plans[i])
	}
	return parts
}

// splitCorrections puts the corrections that are in the same slot together.
func (r *Redis) splitCorrections(corrections []correction) []*part {
	var parts []*part
	isCluster := r.layout.Load().isCluster()
	for i := range corrections {
		slot := 0
		if isCluster {
			slot = keys.Slot(corrections[i].name)
		}
		p := partOf(&parts, slot)
		p.names, p.corrections = append(p.names, corrections[i].name), append(p.corrections, corrections[i])
	}
	return parts
}

// partOf is the part of a slot, added if there is none.
func partOf(parts *[]*part, slot int) *part {
	for _, p := range *parts {
		if p.slot == slot {
			return p
		}
	}
	added := &part{slot: slot}
	*parts = append(*parts, added)
	return added
}

// ask has each part served by the node that has its slot, all nodes side by side. What
// is returned is why a part was not; a part with an error must not be looked at, as it
// may be under way still. The request is a pattern for those to the nodes.
func (r *Redis) ask(pattern *request, parts []*part) []error {
	errs := make([]error, len(parts))
	current := r.layout.Load()
	if current.only != nil {
		errs[0] = askOne(current.only, pattern, parts)
		return errs
	}
	errands := make([]errand, 0, len(parts))
	for i, p := range parts {
		errands = append(errands, errand{part: p, index: i, node: current.nodeOf(p.slot)})
	}
	for followed := 0; ; followed++ {
		r.send(pattern, errands, errs)
		if followed == mostFollowed {
			return errs
		}
		if errands = r.follow(errands, errs); len(errands) == 0 {
			return errs
		}
	}
}

// askOne asks the one node there is, which has all parts in one.
func askOne(n *node, pattern *request, parts []*part) error {
	pattern.parts = parts
	if err := n.ask(pattern); err != nil {
		return err
	}
	return parts[0].err
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
			e.node = r.layout.Load().nodes[to.address]
		}
		if e.node == nil {
			continue
		}
		e.part.asking, e.part.alone = to.asking, true
		next = append(next, e)
	}
	return next
}
