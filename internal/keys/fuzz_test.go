// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package keys

import (
	"strings"
	"testing"
)

// spelt writes any text with the characters that stand in one part of a counter's
// name. Different texts may become equal.
func spelt(text, alphabet string) string {
	var part strings.Builder
	for _, c := range []byte(text) {
		part.WriteByte(alphabet[int(c)%len(alphabet)])
	}
	return part.String()
}

const (
	labels    = "abcdefghijklmnopqrstuvwxyz0123456789-"
	base64URL = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"
	prefixes  = "abcdefghijklmnopqrstuvwxyz0123456789._-"
)

// FuzzCounter holds that no two counters share a key, and that all of one identity
// share a slot.
func FuzzCounter(f *testing.F) {
	f.Add("penstock", "shop", "kB3JQ1Nn9yFQ0r1gq2kW7A", "abcdefgh", "shop", "kB3JQ1Nn9yFQ0r1gq2kW7A", "abcdefgi")
	f.Add("penstock", "shop", "a", "bc", "shop", "ab", "c")
	f.Add("penstock", "a-b", "c", "d", "a", "b-c", "d")
	f.Add("p.n", "n", "n", "n", "n", "n", "nn")
	f.Fuzz(func(t *testing.T, prefix, namespace, identity, limit, namespace2, identity2, limit2 string) {
		p := Prefix("p" + spelt(prefix, prefixes))
		one := [3]string{"n" + spelt(namespace, labels), "i" + spelt(identity, base64URL), "l" + spelt(limit, base64URL)}
		two := [3]string{"n" + spelt(namespace2, labels), "i" + spelt(identity2, base64URL), "l" + spelt(limit2, base64URL)}
		key, key2 := p.Counter(one[0], one[1], one[2]), p.Counter(two[0], two[1], two[2])
		if (key == key2) != (one == two) {
			t.Errorf("%q and %q have the keys %q and %q", one, two, key, key2)
		}
		if Slot(key) != Slot(one[1]) {
			t.Errorf("%q is in slot %d, want that of its identity %q", key, Slot(key), one[1])
		}
		for _, other := range []string{p.Owner(), p.Rules(two[0]), p.Acks(two[0])} {
			if key == other {
				t.Errorf("%q is also the key of something else", key)
			}
		}
	})
}
