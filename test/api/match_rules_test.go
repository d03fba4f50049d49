// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package api

import (
	"fmt"
	"slices"
)

// matchRules are the rules of what requests are matched by.
var matchRules = slices.Concat(
	pathRules("spec.rules[0].matches[0].path", func(path string) change {
		return change{"spec.rules[0].matches": "[{path: " + path + "}]"}
	}),
	pathRules("spec.exempt.paths[0]", func(path string) change {
		return change{"spec.exempt": "{paths: [" + path + "]}"}
	}),
	valueRules("headers"),
	valueRules("queryParams"),
)

func pathRules(path string, with func(path string) change) []rule {
	return []rule{
		{
			field:    path + ".value",
			message:  "a path starts with /: write it from the root, such as /login",
			accepted: with("{type: RegularExpression, value: '.*[.]php'}"),
			refused:  with("{value: login}"),
		},
		{
			field:    path + ".value",
			message:  "a path has no ? and no #: end it there, and match parameters with queryParams",
			accepted: with("{type: RegularExpression, value: '/a?'}"),
			refused:  with("{type: Exact, value: '/a?b=c'}"),
		},
		{
			field:    path + ".value",
			message:  "a path has no ? and no #: end it there, and match parameters with queryParams",
			accepted: with("{type: Exact, value: /a%23b}"),
			refused:  with("{value: '/a#b'}"),
		},
		{
			field:    path + ".value",
			message:  "a template's parameter is a whole segment, such as /users/{id}: name it with letters, digits, _ and -",
			accepted: with("{type: Template, value: '/users/{id}/orders/{order-id}'}"),
			refused:  with("{type: Template, value: '/users/{id}.json'}"),
		},
		{
			field:    path + ".value",
			message:  "{ is read only in templates: set type: Template, or write %7B",
			accepted: with("{type: RegularExpression, value: '/a{2}'}"),
			refused:  with("{value: '/users/{id}'}"),
		},
	}
}

// valueRules are those of a match of a value by its name.
func valueRules(list string) []rule {
	field := "spec.rules[0].matches[0]." + list + "[0].value"
	with := func(match string) change {
		return change{"spec.rules[0].matches": fmt.Sprintf("[{%s: [{name: a, %s}]}]", list, match)}
	}
	return []rule{
		{
			field:    field,
			message:  "Present and Absent look at no value: remove value, or set type: Exact",
			accepted: with("type: Present"),
			refused:  with("type: Present, value: b"),
		},
		{
			field:    field,
			message:  "Present and Absent look at no value: remove value, or set type: Exact",
			accepted: with("type: Absent"),
			refused:  with("type: Absent, value: b"),
		},
		{
			field:    field,
			message:  "say what the value must be: set value, or type: Present",
			accepted: with("value: b"),
			refused:  with("type: Exact"),
		},
		{
			field:    field,
			message:  "a value has at most 256 characters: shorten it, or match a part of it with type: RegularExpression",
			accepted: with("type: RegularExpression, value: " + letters(512)),
			refused:  with("value: " + letters(257)),
		},
	}
}
