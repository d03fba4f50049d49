// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package compile

import (
	"fmt"
	"testing"

	"github.com/penstock-dev/penstock/api/v1alpha1"
)

// BenchmarkNamespace compiles a namespace of many apps with one policy each that
// was compiled before, and with one edit over the budget among them.
func BenchmarkNamespace(b *testing.B) {
	for _, count := range []int{100, 1000, 10000} {
		for _, over := range []bool{false, true} {
			b.Run(fmt.Sprintf("policies=%d/over=%t", count, over), func(b *testing.B) {
				policies := make([]*v1alpha1.RateLimitPolicy, count)
				for i := range policies {
					policies[i] = newPolicy(fmt.Sprintf("policy-%d", i), app(fmt.Sprintf("app-%d", i)), limits(4), paths("/item/%d", ""))
				}
				in := namespaceInput(policies...)
				in.Previous = Namespace(in).RuleSet
				if over {
					limits(40)(policies[0])
					generation(2)(policies[0])
				}
				b.ResetTimer()
				for range b.N {
					Namespace(in)
				}
			})
		}
	}
}
