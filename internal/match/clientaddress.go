// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package match

import "net/netip"

// defaultIPv6PrefixLength is what identifies an IPv6 client where a policy does
// not say: a /64 is the smallest network that is commonly given to one customer.
const defaultIPv6PrefixLength = 64

// nat64 is the well-known prefix of IPv4 addresses that reach an IPv6 network
// through a translator (RFC 6052).
var nat64 = netip.MustParsePrefix("64:ff9b::/96")

// plainAddress is an address without zone, and the IPv4 address in an IPv4-mapped and
// a NAT64 one. Addresses of other transitions, such as 6to4, stay as they are: whoever
// chose them chose the IPv4 address in them too.
func plainAddress(address netip.Addr) netip.Addr {
	address = address.WithZone("").Unmap()
	if nat64.Contains(address) {
		bytes := address.As16()
		return netip.AddrFrom4([4]byte(bytes[12:]))
	}
	return address
}

// ClientNetwork returns the network that stands for a client: the IPv4 address
// itself, or the first ipv6PrefixLength bits of an IPv6 address. An IPv4-mapped
// and a NAT64 address are the IPv4 address in them, and a zone is dropped. A
// length outside 1 to 128 means 64. An invalid address gives an invalid network.
func ClientNetwork(address netip.Addr, ipv6PrefixLength int) netip.Prefix {
	if !address.IsValid() {
		return netip.Prefix{}
	}
	address = plainAddress(address)
	if address.Is4() {
		return netip.PrefixFrom(address, 32)
	}
	if ipv6PrefixLength < 1 || ipv6PrefixLength > 128 {
		ipv6PrefixLength = defaultIPv6PrefixLength
	}
	// Prefix cannot fail: the length is in range and there is no zone.
	network, _ := address.Prefix(ipv6PrefixLength)
	return network
}

// networkText is a network's text, which is the value of a ClientIP part.
func networkText(network netip.Prefix) string {
	var room [64]byte
	return string(network.AppendTo(room[:0]))
}
