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
