// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package match

import "strings"

// forParameter calls found with every value of a query parameter, to apps that part
// parameters at "&" and to those that part them at ";" too.
func forParameter(target, name string, found func(value string)) {
	_, query, _ := strings.Cut(target, "?")
	eachParameter(query, func(p parameter) {
		if some, _ := p.isNamed(name); some {
			found(unescape(p.value))
		}
	})
}

// unescape decodes as forms do. An escape that is malformed stays as it is.
func unescape(text string) string { return spelling{}.decode(text) }

// queryValue is the one value of a query parameter, empty if it is missing. It is
// ambiguous if it has several values, to whichever app.
func queryValue(target, name string) (value string, ambiguous bool) {
	var only oneValue
	forParameter(target, name, only.add)
	return only.result()
}
