// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"slices"
	"strings"
)

// longestName bounds the names that are compared: no field or kind is longer.
const longestName = 64

// wholeBeginning is from how many letters on the beginning of a name stands for it.
const wholeBeginning = 4

// nearest is the known name that was likely meant by one that is not known; empty if
// none is near. Case, hyphens and underscores tell no names apart.
func nearest(name string, known []string) string {
	written := plainName(name)
	if written == "" || len(written) > longestName {
		return ""
	}
	best, least := "", 1+max(1, len(written)/3)
	for _, candidate := range known {
		if distance := editsBetween(written, plainName(candidate)); distance < least {
			best, least = candidate, distance
		}
	}
	if best != "" || len(written) < wholeBeginning {
		return best
	}
	begun := slices.IndexFunc(known, func(candidate string) bool { return strings.HasPrefix(plainName(candidate), written) })
	if begun < 0 {
		return ""
	}
	return known[begun]
}

func plainName(name string) string {
	return strings.NewReplacer("-", "", "_", "", " ", "").Replace(strings.ToLower(name))
}

// editsBetween counts the letters to add, drop, replace, or swap with their neighbour to
// make one text of the other.
func editsBetween(a, b string) int {
	beforeLast, last := make([]int, len(b)+1), make([]int, len(b)+1)
	for j := range last {
		last[j] = j
	}
	for i := 1; i <= len(a); i++ {
		row := make([]int, len(b)+1)
		row[0] = i
		for j := 1; j <= len(b); j++ {
			replaced := last[j-1]
			if a[i-1] != b[j-1] {
				replaced++
			}
			row[j] = min(replaced, last[j]+1, row[j-1]+1)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				row[j] = min(row[j], beforeLast[j-2]+1)
			}
		}
		beforeLast, last = last, row
	}
	return last[len(b)]
}
