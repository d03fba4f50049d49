// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package compile

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"strconv"

	"github.com/penstock-dev/penstock/internal/ruleset"
)

// limitKeyBytes make 8 characters of base64url.
const limitKeyBytes = 6

// limitKey is a limit's part of the names of its counters. Each part is preceded
// by its length, so that no two lists of parts are the same text. The numbers of
// requests and burst are no part: editing them keeps the counts, while another
// algorithm, window, calendar or name starts afresh.
func limitKey(kind, policy, rule, tier string, limit *ruleset.Limit) string {
	window := strconv.FormatInt(limit.WindowMicros, 10)
	if limit.Calendar != nil {
		window = string(limit.Calendar.Period) + " " + limit.Calendar.TimeZone
	}
	hash := sha256.New()
	for _, part := range []string{kind, policy, rule, tier, limit.Name, string(limit.Algorithm), window} {
		hash.Write(binary.BigEndian.AppendUint32(nil, uint32(len(part))))
		hash.Write([]byte(part))
	}
	return base64.RawURLEncoding.EncodeToString(hash.Sum(nil)[:limitKeyBytes])
}

// setLimitKeys gives each limit of a policy its key.
func setLimitKeys(form *ruleset.Policy) {
	for i := range form.Rules {
		rule := &form.Rules[i]
		for tier, limit := range rule.AllLimits() {
			limit.Key = limitKey(form.Kind, form.Name, rule.Name, tier, limit)
		}
	}
}
