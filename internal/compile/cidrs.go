// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package compile

import (
	"fmt"
	"net/netip"

	"k8s.io/apimachinery/pkg/util/validation/field"
)

// compileCIDRs wants ranges that say what they mean: one with bits behind its length
// may have been meant as a smaller one.
func compileCIDRs(cidrs []string, at *field.Path, found *findings) []string {
	var compiled []string
	for i, cidr := range cidrs {
		prefix, err := netip.ParsePrefix(cidr)
		switch {
		case err != nil:
			found.invalid(at.Index(i), "%q is not a range of addresses: write %s", cidr, rangeMeant(cidr))
		case prefix.Addr().Is4In6():
			found.invalid(at.Index(i), "%q is a range of IPv4-mapped addresses, which count as IPv4: write it with IPv4 addresses", cidr)
		case prefix.Masked() != prefix:
			found.invalid(at.Index(i), "%q has address bits behind its length: write %s, or %s/%d for that one address", cidr, prefix.Masked(), prefix.Addr(), prefix.Addr().BitLen())
		default:
			compiled = append(compiled, prefix.String())
		}
	}
	return compiled
}

// rangeMeant is what to write for a text that is no range: an address has one of its own.
func rangeMeant(text string) string {
	address, err := netip.ParseAddr(text)
	if err != nil {
		return "one such as 10.0.0.0/8, 192.0.2.7/32 or 2001:db8::/32"
	}
	address = address.Unmap().WithZone("")
	return fmt.Sprintf("%s/%d for that one address", address, address.BitLen())
}

// warnOfEveryone warns of ranges that are all addresses of a family, and says what
// follows.
func warnOfEveryone(cidrs []string, reason string, at *field.Path, found *findings, follows string) {
	for i, cidr := range cidrs {
		prefix, err := netip.ParsePrefix(cidr)
		if err != nil || prefix.Bits() > 0 {
			continue
		}
		family := "IPv6"
		if prefix.Addr().Is4() {
			family = "IPv4"
		}
		found.warn(reason, at.Index(i), fmt.Sprintf("%q is every %s address, %s", cidr, family, follows))
	}
}
