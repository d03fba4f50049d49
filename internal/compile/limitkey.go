// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package compile

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"iter"
	"maps"
	"slices"
	"strconv"

	"github.com/penstock-dev/penstock/internal/ruleset"
)

// limitKeyBytes make 8 characters of base64url.
const limitKeyBytes = 6

// limitKey is a limit's part of the names of its counters. Each part is preceded
// by its length, so that no two lists of parts are the same text. The numbers of
// requests and burst are no part: editing them keeps the counts, while another
// algorithm, window, calendar or name starts afresh.
//
// The target is that of a count of its own; empty is the count of all.
func limitKey(kind, policy, rule, tier, target string, limit *ruleset.Limit) string {
	window := strconv.FormatInt(limit.WindowMicros, 10)
	if limit.Calendar != nil {
		window = string(limit.Calendar.Period) + " " + limit.Calendar.TimeZone
	}
	parts := []string{kind, policy, rule, tier, limit.Name, string(limit.Algorithm), window}
	if target != "" {
		parts = append(parts, target)
	}
	hash := sha256.New()
	for _, part := range parts {
		hash.Write(binary.BigEndian.AppendUint32(nil, uint32(len(part))))
		hash.Write([]byte(part))
	}
	return base64.RawURLEncoding.EncodeToString(hash.Sum(nil)[:limitKeyBytes])
}

// setLimitKeys gives each limit of a policy its key, and those of the named rules one
// for each target besides.
func setLimitKeys(form *ruleset.Policy, targetScoped map[string]bool) {
	for i := range form.Rules {
		rule := &form.Rules[i]
		var targets []string
		if targetScoped[rule.Name] {
			targets = targetNames(form.Selectors)
		}
		for tier, limit := range rule.AllLimits() {
			setLimitKey(form, rule.Name, tier, targets, limit)
		}
	}
}

func setLimitKey(form *ruleset.Policy, rule, tier string, targets []string, limit *ruleset.Limit) {
	limit.Key = limitKey(form.Kind, form.Name, rule, tier, "", limit)
	if len(targets) == 0 {
		return
	}
	limit.TargetKeys = make(map[string]string, len(targets))
	for _, target := range targets {
		limit.TargetKeys[target] = limitKey(form.Kind, form.Name, rule, tier, target, limit)
	}
}

// keysOf are all keys that a limit is counted under, with the names of their targets;
// the key that is no target's has an empty one.
func keysOf(limit *ruleset.Limit) iter.Seq2[string, string] {
	return func(yield func(target, key string) bool) {
		if !yield("", limit.Key) {
			return
		}
		for _, target := range slices.Sorted(maps.Keys(limit.TargetKeys)) {
			if !yield(target, limit.TargetKeys[target]) {
				return
			}
		}
	}
}
