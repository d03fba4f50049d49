// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package match

import (
	"net/netip"
	"strconv"
)

// defaultIPv6PrefixLength is what identifies an IPv6 client where a policy does
// not say: a /64 is the smallest network that is commonly given to one customer.
const defaultIPv6PrefixLength = 64

// nat64 is the well-known prefix of IPv4 addresses that reach an IPv6 network
// through a translator (RFC 6052).
var nat64 = netip.MustParsePrefix("64:ff9b::/96")

// ClientNetwork returns the network that stands for a client: the IPv4 address
// itself, or the first ipv6PrefixLength bits of an IPv6 address. An IPv4-mapped
// and a NAT64 address are the IPv4 address in them, and a zone is dropped. A
// length outside 1 to 128 means 64. An invalid address gives an invalid network.
func ClientNetwork(peer netip.Addr, ipv6PrefixLength int) netip.Prefix {
	if !peer.IsValid() {
		return netip.Prefix{}
	}
	address := peer.WithZone("").Unmap()
	if nat64.Contains(address) {
		bytes := address.As16()
		address = netip.AddrFrom4([4]byte(bytes[12:]))
	}
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

// appendNetwork appends a network's text, which is the value of a ClientIP part.
func appendNetwork(text []byte, network netip.Prefix) []byte {
	text = network.Addr().AppendTo(text)
	text = append(text, '/')
	return strconv.AppendInt(text, int64(network.Bits()), 10)
}
