// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package keys

import "testing"

// TestNames holds the names to what they are in Redis: changing one loses what
// stands under it.
func TestNames(t *testing.T) {
	t.Parallel()
	prefix := Prefix(DefaultPrefix)
	for got, want := range map[string]string{
		prefix.Owner():                           "penstock:owner",
		prefix.Rules("shop"):                     "penstock:rules:shop",
		prefix.Acks("shop"):                      "penstock:acks:shop",
		prefix.AllAcks():                         "penstock:acks:*",
		prefix.Counter("shop", "id", "abcdefgh"): "penstock:n:shop:{id}:abcdefgh",
		Prefix("a*b").AllAcks():                  `a\*b:acks:*`,
	} {
		if got != want {
			t.Errorf("got %s, want %s", got, want)
		}
	}
	if namespace, ok := prefix.NamespaceOfAcks(prefix.Acks("shop")); !ok || namespace != "shop" {
		t.Errorf("the namespace of %s is %q, %v", prefix.Acks("shop"), namespace, ok)
	}
	if _, ok := prefix.NamespaceOfAcks("other:acks:shop"); ok {
		t.Error("another prefix's name has a namespace")
	}
}
