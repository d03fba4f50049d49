// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package model

import "math/big"

func rat(n int64) *big.Rat { return new(big.Rat).SetInt64(n) }

func sum(a, b *big.Rat) *big.Rat { return new(big.Rat).Add(a, b) }

func difference(a, b *big.Rat) *big.Rat { return new(big.Rat).Sub(a, b) }

func product(a, b *big.Rat) *big.Rat { return new(big.Rat).Mul(a, b) }

// ceil is the least whole number that is not below r.
func ceil(r *big.Rat) int64 {
	whole, rest := new(big.Int).DivMod(r.Num(), r.Denom(), new(big.Int))
	if rest.Sign() > 0 {
		whole.Add(whole, big.NewInt(1))
	}
	return whole.Int64()
}

func floor(r *big.Rat) int64 { return new(big.Int).Div(r.Num(), r.Denom()).Int64() }

// firstWhere is the first number from which on something holds, high if it holds
// nowhere before.
func firstWhere(low, high int64, holds func(int64) bool) int64 {
	for low < high {
		if middle := low + (high-low)/2; holds(middle) {
			high = middle
		} else {
			low = middle + 1
		}
	}
	return low
}
