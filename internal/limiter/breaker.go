// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package limiter

import "sync"

// opensAfter is how many failures in a row open the breaker.
const opensAfter = 5

// outcome is what a call to the store tells about the store.
type outcome int

const (
	succeeded outcome = iota
	failed
	// silent outcomes tell nothing: we were paused.
	silent
)

// outcomeOf says how a call counts that ended with an error, or none. A deadline
// that fired late says that we were paused, not the store.
func outcomeOf(err error, late bool) outcome {
	switch {
	case err == nil:
		return succeeded
	case late && ErrorKind(err) == KindTimeout:
		return silent
	default:
		return failed
	}
}

// breaker keeps requests from a store that fails. It opens after a few failures
// in a row and closes only by a probe, since calls that were under way when it
// opened may still succeed.
type breaker struct {
	mu       sync.Mutex
	failures int
	open     bool
}

func (b *breaker) isOpen() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.open
}

// record counts an outcome and says whether it opened the breaker.
func (b *breaker) record(result outcome) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	switch result {
	case succeeded:
		b.failures = 0
	case failed:
		b.failures++
	case silent:
	}
	if b.open || b.failures < opensAfter {
		return false
	}
	b.open = true
	return true
}

func (b *breaker) close() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.open, b.failures = false, 0
}
