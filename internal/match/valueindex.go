// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package match

import (
	"slices"

	"github.com/penstock-dev/penstock/internal/ruleset"
)

// fewValues is how many values of a header or parameter are looked up. Whoever sends
// more has each rule of that name asked, so that the look-up takes no longer than that.
const fewValues = 8

// values holds the numbers of rules by the exact value of a header or parameter that
// they ask for.
type values struct {
	// every are those that ask for none.
	every []int32
	// headers and query have an entry for each name.
	headers, query []byValue
}

// byValue are the rules that ask for one name.
type byValue struct {
	name    string
	numbers map[string][]int32
	// all are the numbers of all values.
	all []int32
}

// add files a rule under the first exact value that must be there: it is asked about the
// others anyway.
func (v *values) add(a *alternative, number int32) {
	if at := slices.IndexFunc(a.headers, isExactHeader); at >= 0 {
		v.headers = addByValue(v.headers, &a.headers[at], number)
		return
	}
	if at := slices.IndexFunc(a.query, isExact); at >= 0 {
		v.query = addByValue(v.query, &a.query[at], number)
		return
	}
	v.every = append(v.every, number)
}

func isExact(c condition) bool { return c.kind == ruleset.ValueExact }

// isExactHeader leaves out the host, which is no field to the request's view.
func isExactHeader(c condition) bool { return isExact(c) && c.name != hostHeader }

func addByValue(names []byValue, c *condition, number int32) []byValue {
	at := slices.IndexFunc(names, func(known byValue) bool { return known.name == c.name })
	if at < 0 {
		at = len(names)
		names = append(names, byValue{name: c.name, numbers: make(map[string][]int32)})
	}
	of := &names[at]
	of.numbers[c.value] = append(of.numbers[c.value], number)
	of.all = append(of.all, number)
	return names
}

// appendTo appends the rules that may hold for the values of a request: all values that
// their conditions compare.
func (v *values) appendTo(found []int32, request *request) []int32 {
	if v == nil {
		return found
	}
	found = append(found, v.every...)
	for i := range v.headers {
		var few valuesOfName
		eachHeaderValue(request.view.Header(v.headers[i].name), few.add)
		found = v.headers[i].appendTo(found, &few)
	}
	for i := range v.query {
		var few valuesOfName
		eachQueryValue(request.query(), v.query[i].name, few.add)
		found = v.query[i].appendTo(found, &few)
	}
	return found
}

func (b *byValue) appendTo(found []int32, of *valuesOfName) []int32 {
	if of.count > fewValues {
		return append(found, b.all...)
	}
	for _, value := range of.different[:of.count] {
		found = append(found, b.numbers[value]...)
	}
	return found
}

// valuesOfName are the different values of a name, if they are few.
type valuesOfName struct {
	different [fewValues]string
	// count is more than fewValues where they are many.
	count int
}

func (v *valuesOfName) add(value string) {
	switch {
	case v.count > fewValues || slices.Contains(v.different[:v.count], value):
	case v.count == fewValues:
		v.count++
	default:
		v.different[v.count] = value
		v.count++
	}
}
