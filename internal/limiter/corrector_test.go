// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package limiter

import (
	"testing"

	"github.com/penstock-dev/penstock/test/redistest"
)

// TestClosingSendsWhatWaits has a sidecar that ends give back the places of all its
// requests first: else they would count for as long as a lease.
func TestClosingSendsWhatWaits(t *testing.T) {
	t.Parallel()
	client := clientOf(t, redistest.Start(t))
	limiter := newRedis(t, client.Options(), patience)
	const requests = 200
	check := concurrencyOf("a", requests)
	receipts := make([]*Receipt, 0, requests)
	for range requests {
		receipts = append(receipts, decide(t, limiter, check).Receipt)
	}
	for _, receipt := range receipts {
		receipt.Cancel()
	}
	limiter.Close()
	if held := client.ZCard(t.Context(), counterOf(check)).Val(); held != 0 || limiter.CorrectionsLost() != 0 {
		t.Errorf("%d of %d places are still held, and %d corrections lost", held, requests, limiter.CorrectionsLost())
	}
}

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
