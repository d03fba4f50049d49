// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package store

import (
	"crypto/sha1" //nolint:gosec // names content that Redis hashes too, guards nothing
	"encoding/hex"
	"encoding/json"
	"fmt"
	"strconv"

	"github.com/penstock-dev/penstock/internal/ruleset"
)

// standing is what the store has for a namespace before a publication.
type standing struct {
	// sequenceText is the sequence as it stands, to compare with when writing.
	sequenceText string
	sequence     int64 // 0: nothing that can be read
	revision     string
	format       string
	bodySHA1     string
	policies     map[string]policyChange // nil: cannot be read
	// floor is the least sequence that a new publication may have.
	floor int64
}

// policyChange says when a policy last changed.
type policyChange struct {
	Revision string `json:"revision"`
	Sequence int64  `json:"sequence"`
}

// planned is the publication to make, or the one that stands if nothing changed.
type planned struct {
	sequence int64
	revision string
	policies map[string]policyChange
	changed  bool
}

// parseStanding reads the reply of standing.lua. What a hand has damaged reads as
// absent, so that the next publication mends it.
func parseStanding(values []string) (standing, error) {
	const fields = 6
	if len(values) != fields {
		return standing{}, fmt.Errorf("script standing.lua returned %d values, want %d", len(values), fields)
	}
	now, err := strconv.ParseInt(values[5], 10, 64)
	if err != nil {
		return standing{}, fmt.Errorf("script standing.lua returned time %q: %w", values[5], err)
	}
	old := standing{sequenceText: values[0], revision: values[1], format: values[2], bodySHA1: values[4]}
	if sequence, err := strconv.ParseInt(values[0], 10, 64); err == nil && sequence > 0 {
		old.sequence = sequence
	}
	if json.Unmarshal([]byte(values[3]), &old.policies) != nil {
		old.policies = nil
	}
	// The store's time lets sequences grow over a flush, which forgets the last.
	old.floor = max(old.sequence+1, now)
	return old, nil
}

// plan decides whether a rule set needs a new publication, and which policies
// change with it. A policy that comes back after it was away has changed.
func plan(old standing, rs *ruleset.RuleSet, body []byte, revision string) planned {
	next := planned{sequence: old.floor, revision: revision, policies: map[string]policyChange{}}
	kept := 0
	for i := range rs.Policies {
		policy := &rs.Policies[i]
		key := PolicyKey(policy.Kind, policy.Name)
		before, found := old.policies[key]
		if found && before.Revision == policy.Revision && before.Sequence > 0 && before.Sequence <= old.sequence {
			next.policies[key] = before
			kept++
			continue
		}
		next.policies[key] = policyChange{Revision: policy.Revision, Sequence: next.sequence}
	}
	sum := sha1.Sum(body) //nolint:gosec // see the import
	stands := old.sequence > 0 && old.revision == revision &&
		old.format == strconv.Itoa(rs.Format) && old.bodySHA1 == hex.EncodeToString(sum[:]) &&
		old.policies != nil && kept == len(rs.Policies) && len(old.policies) == len(rs.Policies)
	if stands {
		next.sequence = old.sequence
	}
	next.changed = !stands
	return next
}

func (p planned) publication(written bool) Publication {
	sequences := make(map[string]int64, len(p.policies))
	for key, change := range p.policies {
		sequences[key] = change.Sequence
	}
	return Publication{Sequence: p.sequence, Revision: p.revision, Policies: sequences, Written: written}
}
