// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package proxy

import (
	"context"
	"time"
)

// waitForTurn holds an admitted request back until it may go on. It reports false if
// the client left before that; net/http notices this once the request's body, if it
// has one, was read, so not of a body that nobody asked for yet. When the pod's life
// is to end requests go on at once: the app will not take them for much longer.
func (s *Server) waitForTurn(ctx context.Context, delay time.Duration) bool {
	if delay <= 0 {
		return true
	}
	turn := time.NewTimer(delay)
	defer turn.Stop()
	select {
	case <-turn.C:
		return true
	case <-s.drainBegun:
		return true
	case <-ctx.Done():
		return false
	}
}
