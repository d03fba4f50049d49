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

// probeName is both identity and limit of the counter that probes write. It is
// too short to be anyone's identity.
const probeName = "probe"

// startProbe probes in the background until the store works or r is closed. The
// probe runs the limiter's own script with a write to the namespace that failed:
// a store that is read-only, full or forbids us still answers PING.
func (r *Redis) startProbe(namespace string) {
	r.running.Go(func() {
		ctx, cancel := context.WithCancel(context.Background())
		defer cancel()
		for r.pause() {
			if r.probe(ctx, namespace) == nil {
				r.breaker.close()
				return
			}
		}
	})
}

// wakeProbe has the next probe run at once: a connection was made.
func (r *Redis) wakeProbe() {
	select {
	case r.connected <- struct{}{}:
	default:
	}
}

// pause waits until the next probe is due, and says whether there is one.
func (r *Redis) pause() bool {
	timer := time.NewTimer(probePauseLeast + rand.N(probePauseMost-probePauseLeast))
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-r.connected:
		return true
	case <-r.closing:
		return false
	}
}

func (r *Redis) probe(ctx context.Context, namespace string) error {
	// So large that any number of sidecars may probe: a refusal writes nothing.
	bucket := newTokenBucket(terms{}, 1_000_000, uint64(time.Second.Microseconds()), 1_000_000, 1)
	name := r.prefix.Counter(namespace, probeName, probeName)
	return r.dispatcher.do(r.newRequest(ctx, time.Now(), namespace, []string{name}, []plan{bucket}))
}
