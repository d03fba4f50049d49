// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package keys

import "strings"

// Slots is how many hash slots a Redis Cluster has.
const Slots = 16384

// Slot is the hash slot of a key in a Redis Cluster: of the part in the first
// braces, if there is something in them, else of the whole.
func Slot(key string) int {
	if _, tail, found := strings.Cut(key, "{"); found {
		if tag, _, closed := strings.Cut(tail, "}"); closed && tag != "" {
			key = tag
		}
	}
	sum := uint16(0)
	for i := range len(key) {
		sum = sum<<8 ^ crc16[byte(sum>>8)^key[i]]
	}
	return int(sum) % Slots
}

// crc16 has the checksums of all bytes: CRC-16/XMODEM, polynomial 0x1021.
var crc16 = func() (table [256]uint16) {
	for i := range table {
		sum := uint16(i) << 8
		for range 8 {
			if sum&0x8000 != 0 {
				sum = sum<<1 ^ 0x1021
			} else {
				sum <<= 1
			}
		}
		table[i] = sum
	}
	return table
}()
