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

// tripleNames are three fields that tell about one limit.
type tripleNames struct {
	limit, remaining, reset string
	// apps are the three as net/http spells what an app sends, in that order.
	apps [3]string
}

func namesOfTriple(prefix string) *tripleNames {
	names := &tripleNames{limit: prefix + "-Limit", remaining: prefix + "-Remaining", reset: prefix + "-Reset"}
	for i, name := range []string{names.limit, names.remaining, names.reset} {
		names.apps[i] = http.CanonicalHeaderKey(name)
	}
	return names
}

var (
	// xRateLimitNames are the fields in widest use. They have no standard; ours
	// tell the reset as seconds from now.
	xRateLimitNames = namesOfTriple("X-RateLimit")
	// draft03Names are those of draft-ietf-httpapi-ratelimit-headers-03.
	draft03Names = namesOfTriple("RateLimit")
)

// addTriple adds the three fields of the speaking limit. Such fields hold one
// limit only, so between the app's own and ours the one with less left stays.
func (f *limitFields) addTriple(lines *fieldLines, header http.Header, names *tripleNames) {
	speaking := &f.limits[0]
	if own := header[names.apps[1]]; len(own) > 0 {
		left, err := strconv.ParseInt(strings.TrimSpace(own[0]), 10, 64)
		if err != nil || left <= speaking.Remaining {
			return
		}
	}
	for _, name := range names.apps {
		delete(header, name)
	}
	lines.text = appendInteger(lines.text, capacity(speaking))
	if names == draft03Names {
		lines.text = f.appendQuotas(lines.text)
	}
	lines.end(names.limit)
	lines.text = appendInteger(lines.text, speaking.Remaining)
	lines.end(names.remaining)
	lines.text = appendInteger(lines.text, wholeSeconds(speaking.ResetAfter))
	lines.end(names.reset)
}

// appendQuotas appends all quotas with their windows to the speaking limit's capacity.
func (f *limitFields) appendQuotas(field []byte) []byte {
	for i := range f.limits {
		field = appendInteger(append(field, ", "...), f.limits[i].Requests)
		if window := f.limits[i].Window; window >= time.Second {
			field = appendInteger(append(field, ";w="...), wholeSeconds(window))
		}
	}
	return field
}

// capacity is the most that can be left of a limit, so that what remains is never
// above it.
func capacity(state *limiter.LimitState) int64 { return state.Burst }

func integerText(n int64) string { return string(appendInteger(nil, n)) }
