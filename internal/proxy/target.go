// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package proxy

import (
	"net/url"
	"strings"

	"github.com/penstock-dev/penstock/internal/match"
)

// forwardTarget makes out, a copy of the inbound URL, write the request target as
// it was sent: net/url would otherwise re-escape it, and a query with semicolons
// would lose parameters. Only what is not legal in a target is changed: an
// absolute form loses its authority, as an origin server expects, and a "#" is
// escaped, since apps disagree on whether it ends the target.
func forwardTarget(out *url.URL, inbound *url.URL, requestURI string) {
	target, _ := match.OriginForm(requestURI)
	path, query, hasQuery := strings.Cut(target, "?")
	out.RawQuery, out.ForceQuery = strings.ReplaceAll(query, "#", "%23"), hasQuery && query == ""
	if strings.HasPrefix(path, "//") {
		// An opaque URL cannot begin with two slashes, so here the path goes
		// through net/url, which keeps every legal byte.
		out.Path, out.RawPath = inbound.Path, inbound.RawPath
		return
	}
	out.Opaque = strings.ReplaceAll(path, "#", "%23")
}
