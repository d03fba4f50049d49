// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package proxy

import (
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/penstock-dev/penstock/internal/limiter"
	"github.com/penstock-dev/penstock/internal/ruleset"
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
func (f *limitFields) addRateLimit(lines *fieldLines, header http.Header) {
	taken := strings.Join(header[appFieldRateLimit], ",") + strings.Join(header[appFieldRateLimitPolicy], ",")
	for i := range f.limits {
		lines.text = appendName(appendComma(lines.text, i), &f.limits[i], taken)
		lines.text = f.appendPolicy(lines.text, &f.limits[i])
	}
	lines.end(fieldRateLimitPolicy)
	for i := range f.limits {
		lines.text = appendName(appendComma(lines.text, i), &f.limits[i], taken)
		lines.text = f.appendRemaining(lines.text, &f.limits[i])
	}
	lines.end(fieldRateLimit)
}

// appendComma separates a member of a list from those before it.
func appendComma(field []byte, before int) []byte {
	if before == 0 {
		return field
	}
	return append(field, ", "...)
}

// appendName appends the name of a limit, another one if the app tells of its own
// limits by that name.
func appendName(field []byte, state *limiter.LimitState, taken string) []byte {
	start := len(field)
	field = appendNameBehind(field, "", state)
	if taken != "" && strings.Contains(taken, string(field[start:])) {
		field = appendNameBehind(field[:start], "penstock/", state)
	}
	return field
}

// appendNameBehind appends what limitName returns as a string of RFC 9651, behind a
// prefix.
func appendNameBehind(field []byte, prefix string, state *limiter.LimitState) []byte {
	field = append(append(field, '"'), prefix...)
	if state.Kind == ruleset.KindCluster {
		field = append(field, ruleset.ClusterPrefix...)
	}
	field = append(appendEscaped(field, state.Policy), '/')
	field = append(appendEscaped(field, state.Rule), '/')
	return append(appendEscaped(field, state.Limit), '"')
}

// appendPolicy appends the parameters of a member of RateLimit-Policy.
func (f *limitFields) appendPolicy(field []byte, state *limiter.LimitState) []byte {
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

// appendRemaining appends the parameters of a member of RateLimit. Retry-After must
// not point earlier than t does: a refusing limit's t is cut to it, and a limit that
// would admit and grows later tells no t.
func (f *limitFields) appendRemaining(field []byte, state *limiter.LimitState) []byte {
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

// appendEscaped appends what stands between the quotes of a string of RFC 9651, which
// knows ASCII only.
func appendEscaped(field []byte, text string) []byte {
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
	return field
}

// appendInteger appends a non-negative integer of RFC 9651: at most 15 digits.
func appendInteger(field []byte, n int64) []byte {
	return strconv.AppendInt(field, min(max(n, 0), maxInteger), 10)
}
