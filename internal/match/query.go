// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package match

import "strings"

// separation says where an app parts a query into parameters.
type separation int

const (
	// atAmpersands is at "&" alone.
	atAmpersands separation = iota
	// atSemicolons is at "&" and at ";".
	atSemicolons
)

// is reports whether an app that parts queries so has the parameter.
func (s separation) is(p *parameter) bool {
	if s == atSemicolons {
		return p.narrow
	}
	return p.wide
}

// eachNamed calls found with each parameter that some app takes for one of the name.
func eachNamed(query, name string, found func(p *parameter)) {
	eachParameter(query, func(p parameter) {
		if some, _ := p.isNamed(name); some {
			found(&p)
		}
	})
}

// forParameter calls found with every value of a query parameter, to apps that part
// parameters at "&" and to those that part them at ";" too.
func forParameter(target, name string, found func(value string)) {
	_, query, _ := strings.Cut(target, "?")
	eachNamed(query, name, func(p *parameter) { found(unescape(p.value)) })
}

// unescape decodes as forms do. An escape that is malformed stays as it is.
func unescape(text string) string { return spelling{}.decode(text) }

// queryValue is the one value of a query parameter, empty if it is missing. It is
// ambiguous if it has several values, to whichever app, or if it is missing to some:
// else whoever leaves it out could be counted as anybody.
func queryValue(target, name string) (value string, ambiguous bool) {
	_, query, _ := strings.Cut(target, "?")
	var only oneValue
	sure := false
	eachNamed(query, name, func(p *parameter) {
		only.add(unescape(p.value))
		sure = sure || p.sure
	})
	value, ambiguous = only.result()
	return value, ambiguous || only.given && !sure
}
