// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package match

import (
	"net/netip"
	"strings"
)

// maxForwardedEntry is longer than any spelling of an address with zone and port: an
// entry with more bytes is no address.
const maxForwardedEntry = 128

// entryFromRight is an entry of the list that all lines of a field are together,
// counted from the right, where 1 is the last. Empty entries count: where they are
// skipped, one more entry to the left is believed than proxies wrote. It reports false
// if there are fewer entries. It looks only at what it has to count.
func entryFromRight(lines []string, number int) (entry string, found bool) {
	for i := len(lines) - 1; i >= 0; i-- {
		line, more := lines[i], true
		for more {
			var last string
			line, last, more = cutLast(line)
			if number--; number <= 0 {
				return strings.Trim(last, " \t"), true
			}
		}
	}
	return "", false
}

// cutLast cuts a list at its last comma; without one it is a last entry itself.
func cutLast(list string) (before, last string, found bool) {
	comma := strings.LastIndexByte(list, ',')
	if comma < 0 {
		return "", list, false
	}
	return list[:comma], list[comma+1:], true
}

// parseForwarded reads an address as proxies write it: alone, an IPv6 address also in
// brackets, with or without a port behind. A bare IPv6 address has no port, whatever
// its end looks like. It reports false for anything else: a name, "unknown", quotes,
// leading zeros, a port that is none.
func parseForwarded(entry string) (address netip.Addr, ok bool) {
	if entry == "" || len(entry) > maxForwardedEntry {
		return netip.Addr{}, false
	}
	var err error
	switch {
	case entry[0] == '[' && entry[len(entry)-1] == ']':
		address, err = netip.ParseAddr(entry[1 : len(entry)-1])
		if address.Is4() {
			return netip.Addr{}, false
		}
	case entry[0] == '[' || strings.Count(entry, ":") == 1:
		var withPort netip.AddrPort
		withPort, err = netip.ParseAddrPort(entry)
		address = withPort.Addr()
	default:
		address, err = netip.ParseAddr(entry)
	}
	return address, err == nil
}
