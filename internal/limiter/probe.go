// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package limiter

import (
	"context"
	"math/rand/v2"
	"time"
)

// A probe runs after a pause drawn from this range, so that many sidecars do not
// ask a store that comes back all at once.
const (
	probePauseLeast = 250 * time.Millisecond
	probePauseMost  = 500 * time.Millisecond
)

// probeName is the limit of the counter that probes write, and begins its identity,
// which is too short to be anyone's.
const probeName = "probe"

// probeFor has probes count for an identity.
func (n *node) probeFor(identity string) { n.probed.Store(&identity) }

// startProbe probes in the background until the node works or is closed. The probe
// runs the limiter's own script with a write to the namespace that failed: a store
// that is read-only, full or forbids us still answers PING.
func (n *node) startProbe(namespace string) {
	n.running.Go(func() {
		ctx, cancel := context.WithCancel(context.Background())
		defer cancel()
		for n.pause() {
			if n.probe(ctx, namespace) == nil {
				n.breaker.close()
				return
			}
		}
	})
}

// wakeProbe has the next probe run at once: a connection was made.
func (n *node) wakeProbe() {
	select {
	case n.connected <- struct{}{}:
	default:
	}
}

// pause waits until the next probe is due, and says whether there is one.
func (n *node) pause() bool {
	timer := time.NewTimer(probePauseLeast + rand.N(probePauseMost-probePauseLeast))
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-n.connected:
		return true
	case <-n.closing:
		return false
	}
}

// probe says whether the node works. One that names another node for a slot does: no
// more can be known of a node without slots.
func (n *node) probe(ctx context.Context, namespace string) error {
	// So large that any number of sidecars may probe: a refusal writes nothing.
	bucket := newTokenBucket(terms{}, 1_000_000, uint64(time.Second.Microseconds()), 1_000_000, 1)
	probe := &part{
		names: []string{n.prefix.Counter(namespace, *n.probed.Load(), probeName)}, plans: []plan{bucket}, alone: true,
	}
	asked := &request{ctx: ctx, namespace: namespace, deadline: time.Now().Add(n.deadline), parts: []*part{probe}}
	if err := n.dispatcher.do(asked); err != nil {
		return err
	}
	if _, elsewhere := redirectIn(probe.err); elsewhere {
		return nil
	}
	return probe.err
}
