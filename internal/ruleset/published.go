// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package ruleset

// Published is a rule set as it stands in the store or in a snapshot: with the
// number of its publication.
type Published struct {
	// Sequence numbers publications of a namespace. It only grows, also over a
	// flush of the store: it is at least the store's time in microseconds at
	// the first publication.
	Sequence int64 `json:"sequence"`
	// Revision is the hash of the rule set's content.
	Revision string `json:"revision"`
	// Body is the encoded rule set, see Encode.
	Body []byte `json:"body"`
}
