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
type tripleNames struct{ limit, remaining, reset string }

var (
	// xRateLimitNames are the fields in widest use. They have no standard; ours
	// tell the reset as seconds from now.
	xRateLimitNames = tripleNames{limit: "X-RateLimit-Limit", remaining: "X-RateLimit-Remaining", reset: "X-RateLimit-Reset"}
	// draft03Names are those of draft-ietf-httpapi-ratelimit-headers-03.
	draft03Names = tripleNames{limit: "RateLimit-Limit", remaining: "RateLimit-Remaining", reset: "RateLimit-Reset"}
)

// addTriple sets the three fields from the speaking limit. Such fields hold one
// limit only, so between the app's own and ours the one with less left stays.
func (f *limitFields) addTriple(header http.Header, names tripleNames, limit string) {
	speaking := &f.limits[0]
	if own := header.Values(names.remaining); len(own) > 0 {
		left, err := strconv.ParseInt(strings.TrimSpace(own[0]), 10, 64)
		if err != nil || left <= speaking.Remaining {
			return
		}
	}
	for _, name := range []string{names.limit, names.remaining, names.reset} {
		header.Del(name)
	}
	header[names.limit] = []string{limit}
	header[names.remaining] = []string{integerText(speaking.Remaining)}
	header[names.reset] = []string{integerText(wholeSeconds(speaking.ResetAfter))}
}

// draft03Limit is the speaking limit's capacity, then all quotas with their windows.
func (f *limitFields) draft03Limit() string {
	text := []byte(capacityText(&f.limits[0]))
	for i := range f.limits {
		text = appendInteger(append(text, ", "...), f.limits[i].Requests)
		if window := f.limits[i].Window; window >= time.Second {
			text = appendInteger(append(text, ";w="...), wholeSeconds(window))
		}
	}
	return string(text)
}

// capacityText is the most that can be left of a limit, so that what remains is
// never above it.
func capacityText(state *limiter.LimitState) string {
	return integerText(state.Burst)
}

func integerText(n int64) string { return string(appendInteger(nil, n)) }
