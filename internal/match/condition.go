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
	for _, value := range values {
		result.add(value)
	}
	if len(values) > 1 {
		result.add(strings.Join(values, ","))
	}
	return result.some, !result.doubt
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
	found, sure := 0, false
	look := c.kind == ruleset.ValueExact || c.kind == ruleset.ValueRegularExpression
	eachParameter(query, func(p parameter) {
		some, every := p.isNamed(c.name)
		if !some {
			return
		}
		found++
		sure = sure || p.sure && every
		if look {
			result.addValue(p.value)
		}
	})
	switch {
	case c.kind == ruleset.ValueAbsent:
		return !sure, found == 0
	case c.kind == ruleset.ValuePresent:
		return found > 0, sure
	case found > 1:
		result.addJoined(query)
	}
	return result.some, sure && !result.doubt
}

// addValue tells of what apps decode a value to.
func (v *verdict) addValue(value string) {
	for i, way := range spellings {
		if i == 0 || way.differs(value) {
			v.add(way.decode(value))
		}
	}
}

// addJoined tells of what apps get that join the values of a parameter.
func (v *verdict) addJoined(query string) {
	var wide, narrow []string
	eachParameter(query, func(p parameter) {
		if some, _ := p.isNamed(v.condition.name); !some {
			return
		}
		if p.wide {
			wide = append(wide, p.value)
		}
		if p.narrow {
			narrow = append(narrow, p.value)
		}
	})
	for _, values := range [][]string{wide, narrow} {
		if len(values) > 1 {
			v.addDecoded(values)
		}
	}
}

// addDecoded joins after decoding, so that an escaped comma is like any other.
func (v *verdict) addDecoded(values []string) {
	for i, way := range spellings {
		if i > 0 && !way.differs(strings.Join(values, "&")) {
			continue
		}
		decoded := make([]string, len(values))
		for j, value := range values {
			decoded[j] = way.decode(value)
		}
		v.add(strings.Join(decoded, ","))
	}
}
