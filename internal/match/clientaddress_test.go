// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package match

import (
	"net/netip"
	"testing"
)

func TestClientNetwork(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		peer   string
		length int
		want   string
	}{
		"IPv4":                      {peer: "203.0.113.7", length: 64, want: "203.0.113.7/32"},
		"IPv4-mapped":               {peer: "::ffff:203.0.113.7", length: 64, want: "203.0.113.7/32"},
		"IPv4-mapped in hex":        {peer: "::ffff:cb00:7107", length: 64, want: "203.0.113.7/32"},
		"NAT64":                     {peer: "64:ff9b::203.0.113.7", length: 64, want: "203.0.113.7/32"},
		"NAT64 with zone":           {peer: "64:ff9b::cb00:7107%eth0", length: 64, want: "203.0.113.7/32"},
		"IPv6 cut":                  {peer: "2001:db8:1:2:3:4:5:6", length: 64, want: "2001:db8:1:2::/64"},
		"IPv6 cut elsewhere":        {peer: "2001:db8:1:2:3:4:5:6", length: 48, want: "2001:db8:1::/48"},
		"IPv6 whole":                {peer: "2001:db8::1", length: 128, want: "2001:db8::1/128"},
		"zone dropped":              {peer: "fe80::1%eth0", length: 128, want: "fe80::1/128"},
		"length absent":             {peer: "2001:db8:1:2:3::", length: 0, want: "2001:db8:1:2::/64"},
		"length out of range":       {peer: "2001:db8:1:2:3::", length: 129, want: "2001:db8:1:2::/64"},
		"other NAT64 prefix is not": {peer: "64:ff9b:1::cb00:7107", length: 64, want: "64:ff9b:1::/64"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := ClientNetwork(netip.MustParseAddr(tc.peer), tc.length); got.String() != tc.want {
				t.Errorf("ClientNetwork(%s, %d) = %s, want %s", tc.peer, tc.length, got, tc.want)
			}
		})
	}
	if got := ClientNetwork(netip.Addr{}, 64); got.IsValid() {
		t.Errorf("ClientNetwork of no address = %s, want an invalid network", got)
	}
}

func TestCanonicalHost(t *testing.T) {
	t.Parallel()
	for host, want := range map[string]string{
		"Shop.Example.com": "shop.example.com", "shop.example.com:8080": "shop.example.com", "shop.example.com.": "shop.example.com",
		"shop.example.com.:80": "shop.example.com", "[2001:DB8::1]:80": "[2001:db8::1]", "[2001:db8::1]": "[2001:db8::1]", "2001:db8::1": "2001:db8::1", "user@Shop.test:80": "shop.test", "": "",
	} {
		if got := canonicalHost(host); got != want {
			t.Errorf("canonicalHost(%q) = %q, want %q", host, got, want)
		}
	}
}
