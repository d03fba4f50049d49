// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package proxy

import "github.com/penstock-dev/penstock/internal/limiter"

// settlement is what an admitted request owes once it has been answered, or however
// else it ends.
type settlement struct {
	// receipt is nil where the charges are final.
	receipt *limiter.Receipt
}

// settle must be called once for every admitted request.
func (s *settlement) settle() { s.receipt.Settle(nil) }
