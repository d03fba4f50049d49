// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package proxy

import (
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/penstock-dev/penstock/internal/limiter"
)

// Our fields are spelled as their documents spell them. Those of an app arrive
// as net/http spells them.
const (
	fieldRateLimit          = "RateLimit"
	fieldRateLimitPolicy    = "RateLimit-Policy"
	appFieldRateLimit       = "Ratelimit"
	appFieldRateLimitPolicy = "Ratelimit-Policy"
	// partitionKeyLength is how many characters of the identity are shown: 48
	// bits of a keyed hash, enough to tell one's own partitions apart.
	partitionKeyLength = 8
	// maxInteger is the largest integer of RFC 9651.
	maxInteger = 999_999_999_999_999
)

// addRateLimit adds RateLimit and RateLimit-Policy
// (draft-ietf-httpapi-ratelimit-headers). An app's own lists stay: ours are
// further lines, whose names differ.
func (f *limitFields) addRateLimit(header http.Header) {
	taken := strings.Join(header[appFieldRateLimit], ",") + strings.Join(header[appFieldRateLimitPolicy], ",")
	var policies, remaining []byte
	for i := range f.limits {
		state := &f.limits[i]
		if i > 0 {
			policies = append(policies, ", "...)
			remaining = append(remaining, ", "...)
		}
		name := appendString(nil, limitName(state))
		if taken != "" && strings.Contains(taken, string(name)) {
			name = appendString(nil, "penstock/"+limitName(state))
		}
		policies = f.appendPolicy(policies, name, state)
		remaining = f.appendRemaining(remaining, name, state)
	}
	header[fieldRateLimit] = []string{string(remaining)}
	header[fieldRateLimitPolicy] = []string{string(policies)}
}

// appendPolicy appends one member of RateLimit-Policy.
func (f *limitFields) appendPolicy(field, name []byte, state *limiter.LimitState) []byte {
	field = append(field, name...)
	field = appendInteger(append(field, ";q="...), state.Requests)
	if hasNoWindow(state) {
		field = append(field, `;qu="concurrent-requests"`...)
	}
	if state.Window >= time.Second {
		field = appendInteger(append(field, ";w="...), wholeSeconds(state.Window))
	}
	if state.Burst > 0 && state.Burst != state.Requests {
		field = appendInteger(append(field, ";penstock-burst="...), state.Burst)
	}
	return f.appendPartitionKey(field, state.Identity)
}

// appendRemaining appends one member of RateLimit. Retry-After must not point
// earlier than t does: a refusing limit's t is cut to it, and a limit that would
// admit and grows later tells no t.
func (f *limitFields) appendRemaining(field, name []byte, state *limiter.LimitState) []byte {
	field = append(field, name...)
	field = appendInteger(append(field, ";r="...), state.Remaining)
	next := wholeSeconds(state.NextAfter)
	if f.retryAfter > 0 && next > f.retryAfter {
		next = f.retryAfter
		if state.Allowed || state.Shadow {
			next = 0
		}
	}
	if next > 0 {
		field = appendInteger(append(field, ";t="...), next)
	}
	return f.appendPartitionKey(field, state.Identity)
}

// appendPartitionKey appends pk as a byte sequence.
func (f *limitFields) appendPartitionKey(field []byte, identity string) []byte {
	if f.noPartitions || len(identity) < partitionKeyLength {
		return field
	}
	field = append(field, ";pk=:"...)
	return append(appendShownIdentity(field, identity), ':')
}

// shownIdentity is how an identity is told wherever it is: to its client, and to those
// who run the app. It is empty for none.
func shownIdentity(identity string) string {
	if len(identity) < partitionKeyLength {
		return ""
	}
	return string(appendShownIdentity(make([]byte, 0, partitionKeyLength), identity))
}

// appendShownIdentity appends as much of an identity as is shown. It is base64url; the
// byte sequence that clients get has the other two characters.
func appendShownIdentity(text []byte, identity string) []byte {
	for _, c := range []byte(identity[:partitionKeyLength]) {
		switch c {
		case '-':
			c = '+'
		case '_':
			c = '/'
		}
		text = append(text, c)
	}
	return text
}

// appendString appends a string of RFC 9651, which knows ASCII only.
func appendString(field []byte, text string) []byte {
	field = append(field, '"')
	for _, c := range []byte(text) {
		switch {
		case c == '"' || c == '\\':
			field = append(field, '\\', c)
		case c < ' ' || c > '~':
			field = append(field, '?')
		default:
			field = append(field, c)
		}
	}
	return append(field, '"')
}

// appendInteger appends a non-negative integer of RFC 9651: at most 15 digits.
func appendInteger(field []byte, n int64) []byte {
	return strconv.AppendInt(field, min(max(n, 0), maxInteger), 10)
}
