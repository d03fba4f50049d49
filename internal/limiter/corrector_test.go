// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package limiter

import (
	"testing"

	"github.com/penstock-dev/penstock/test/redistest"
)

// TestCorrectionsAfterTheEndAreLostAndCounted has a request outlive its limiter, as
// one does whose store was exchanged while it was answered.
func TestCorrectionsAfterTheEndAreLostAndCounted(t *testing.T) {
	t.Parallel()
	limiter := newRedis(t, clientOf(t, redistest.Start(t)).Options(), patience)
	warm(t, limiter)
	check := fixedWindowOf("a", 10, ages)
	check.Correctable = true
	decision := decide(t, limiter, check)
	limiter.Close()
	if lost := limiter.CorrectionsLost(); lost != 0 {
		t.Errorf("%d corrections are lost before there was one", lost)
	}
	decision.Receipt.Cancel()
	if lost := limiter.CorrectionsLost(); lost != 1 {
		t.Errorf("%d corrections are lost, want 1", lost)
	}
}
