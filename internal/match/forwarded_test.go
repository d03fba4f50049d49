// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package match

import (
	"net/netip"
	"strings"
	"testing"
)

// FuzzForwardedHeader compares reading from the right with reading all, and holds what
// must be true of any client that a header tells.
func FuzzForwardedHeader(f *testing.F) {
	for _, seed := range []string{"", ",", "203.0.113.7", "192.0.2.1, [2001:db8::1%eth0]:80\n::ffff:203.0.113.7 ,", "1.2.3.4:80\n\n\"x\",_", "[::1]\n[\n]"} {
		for _, number := range []uint8{1, 2, 32} {
			f.Add(seed, number)
		}
	}
	f.Fuzz(func(t *testing.T, text string, number uint8) {
		lines := strings.Split(text, "\n")
		place := int(number)%32 + 1
		entry, found := entryFromRight(lines, place)
		all := strings.Split(strings.Join(lines, ","), ",")
		if found != (place <= len(all)) {
			t.Fatalf("entry %d of %d was found: %t", place, len(all), found)
		}
		if !found {
			return
		}
		if want := strings.Trim(all[len(all)-place], " \t"); entry != want {
			t.Errorf("entry %d from the right is %q, want %q", place, entry, want)
		}
		client, ok := parseForwarded(entry)
		if !ok {
			return
		}
		plain := plainAddress(client)
		if !plain.IsValid() || plain.Zone() != "" || plain.Is4In6() || plainAddress(plain) != plain {
			t.Errorf("entry %q is client %s, which is not plain", entry, plain)
		}
		again, ok := parseForwarded(plain.String())
		if !ok || again != plain {
			t.Errorf("client %s of entry %q is read as %s", plain, entry, again)
		}
	})
}

// BenchmarkClientFromHeader shows that a long header costs no more than it must.
func BenchmarkClientFromHeader(b *testing.B) {
	source, err := new(Matcher).clientSourceFor(&rulesBehindProxies().Policies[0].ClientIP)
	if err != nil {
		b.Fatal(err)
	}
	for name, line := range map[string]string{
		"Short": "192.0.2.1, 203.0.113.7", "MebibyteOfCommas": strings.Repeat(",", 1<<20), "MebibyteEntry": strings.Repeat("1", 1<<20),
	} {
		b.Run(name, func(b *testing.B) {
			view := &fakeView{peer: netip.MustParseAddr("10.0.0.9"), headers: map[string][]string{"x-forwarded-for": {line}}}
			b.ReportAllocs()
			for b.Loop() {
				source.address(view)
			}
		})
	}
}
