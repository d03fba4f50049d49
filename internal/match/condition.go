// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package match

import (
	"fmt"
	"strings"

	"github.com/penstock-dev/penstock/internal/ruleset"
)

// hostHeader is the header that is the host, however it is sent.
const hostHeader = "host"

// condition is on the value of a header or of a query parameter. Where a request can be
// understood in several ways, it holds if it holds in one of them: no spelling gets
// around a rule.
type condition struct {
	name       string
	kind       ruleset.ValueMatchType
	value      string
	expression regularExpression
}

func compileConditions(entries []ruleset.ValueMatch) ([]condition, error) {
	var conditions []condition
	for _, entry := range entries {
		c := condition{name: entry.Name, kind: entry.Type, value: entry.Value}
		switch entry.Type {
		case ruleset.ValuePresent, ruleset.ValueAbsent, ruleset.ValueExact:
		case ruleset.ValueRegularExpression:
			whole, err := CompileRegularExpression(entry.Value, false)
			if err != nil {
				return nil, fmt.Errorf("value of %q: %w", entry.Name, err)
			}
			c.expression = regularExpression{whole}
		default:
			return nil, fmt.Errorf("value of %q: match type %q is not known to this version", entry.Name, entry.Type)
		}
		conditions = append(conditions, c)
	}
	return conditions, nil
}

func compileHeaderConditions(entries []ruleset.ValueMatch) ([]condition, error) {
	for _, entry := range entries {
		if entry.Name != strings.ToLower(entry.Name) {
			return nil, fmt.Errorf("header name %q is not in lower case", entry.Name)
		}
	}
	return compileConditions(entries)
}

// verdict gathers what a condition makes of the ways in which a request can be read.
type verdict struct {
	condition *condition
	// some is true if the condition holds in one way, doubt if it may not in another.
	some, doubt bool
}

// add tells of a value that some app takes.
func (v *verdict) add(value string) {
	accepted, known := value == v.condition.value, true
	if v.condition.kind == ruleset.ValueRegularExpression {
		accepted, known = v.condition.expression.matches(value)
	}
	v.some = v.some || accepted
	v.doubt = v.doubt || !accepted || !known
}

// holdsForHeader reports whether the condition holds for a header to some app, and
// whether it does to every app: of several values, apps take the first, the last or all
// of them, joined with a comma.
func (c *condition) holdsForHeader(request *request) (holds, surely bool) {
	if c.name == hostHeader {
		return c.holdsForHost(request.hostName())
	}
	values := request.view.Header(c.name)
	switch c.kind {
	case ruleset.ValuePresent:
		return len(values) > 0, true
	case ruleset.ValueAbsent:
		return len(values) == 0, true
	}
	result := verdict{condition: c}
	eachHeaderValue(values, result.add)
	return result.some, !result.doubt
}

// eachHeaderValue calls found with each value that some app takes for that of a header.
func eachHeaderValue(values []string, found func(value string)) {
	for _, value := range values {
		found(value)
	}
	if len(values) > 1 {
		found(strings.Join(values, ","))
	}
}

func (c *condition) holdsForHost(host string) (holds, surely bool) {
	switch c.kind {
	case ruleset.ValuePresent:
		return host != "", true
	case ruleset.ValueAbsent:
		return host == "", true
	}
	result := verdict{condition: c}
	result.add(host)
	return result.some, !result.doubt
}

// holdsForQuery does the same for a query parameter.
func (c *condition) holdsForQuery(query string) (holds, surely bool) {
	result := verdict{condition: c}
	found := result.add
	if c.kind != ruleset.ValueExact && c.kind != ruleset.ValueRegularExpression {
		found = nil
	}
	count, sure := eachQueryValue(query, c.name, found)
	switch c.kind {
	case ruleset.ValueAbsent:
		return !sure, count == 0
	case ruleset.ValuePresent:
		return count > 0, sure
	}
	return result.some, sure && !result.doubt
}

// eachQueryValue calls found, if it is not nil, with each value that some app takes for
// that of a query parameter. It returns how many parameters of the name there are, and
// whether every app finds one.
func eachQueryValue(query, name string, found func(value string)) (count int, sure bool) {
	eachParameter(query, func(p parameter) {
		some, every := p.isNamed(name)
		if !some {
			return
		}
		count++
		sure = sure || p.sure && every
		if found != nil {
			eachDecoded(p.value, found)
		}
	})
	if count > 1 && found != nil {
		eachJoined(query, name, found)
	}
	return count, sure
}

// eachDecoded calls found with what apps decode a value to.
func eachDecoded(value string, found func(value string)) {
	for i, way := range spellings {
		if i == 0 || way.differs(value) {
			found(way.decode(value))
		}
	}
}

// eachJoined calls found with what apps get that join the values of a parameter.
func eachJoined(query, name string, found func(value string)) {
	var wide, narrow []string
	eachNamed(query, name, func(p *parameter) {
		if p.wide {
			wide = append(wide, p.value)
		}
		if p.narrow {
			narrow = append(narrow, p.value)
		}
	})
	for _, values := range [][]string{wide, narrow} {
		if len(values) > 1 {
			eachJoinedOf(values, found)
		}
	}
}

// eachJoinedOf joins after decoding, so that an escaped comma is like any other.
func eachJoinedOf(values []string, found func(value string)) {
	for i, way := range spellings {
		if i > 0 && !way.differs(strings.Join(values, "&")) {
			continue
		}
		decoded := make([]string, len(values))
		for j, value := range values {
			decoded[j] = way.decode(value)
		}
		found(strings.Join(decoded, ","))
	}
}
