// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package match

import (
	"fmt"
	"slices"
	"strings"

	"github.com/penstock-dev/penstock/internal/ruleset"
)

// valueOf is what a source yields for a request that met the rule: empty if it is
// missing. It is ambiguous if the request gives it twice with different values.
func (r *request) valueOf(source *ruleset.KeySource, rule *ruleMatcher, how *met) (value string, ambiguous bool) {
	switch source.Kind {
	case ruleset.SourceClientIP:
		return r.client(rule.client).network, false
	case ruleset.SourceHeader:
		return r.headerValue(source.Name)
	case ruleset.SourceCookie:
		return cookieValue(r.view, source.Name)
	case ruleset.SourceQueryParam:
		return queryValue(r.view.Target(), source.Name)
	case ruleset.SourcePathParam:
		return how.param(source.Name), false
	case ruleset.SourcePath:
		return how.path, false
	case ruleset.SourceMethod:
		return r.view.Method(), false
	case ruleset.SourceJWTClaim:
		return rule.providers.claim(r, source)
	case ruleset.SourceExpression:
		return rule.expressions.keyOf(r, source.Name, how)
	case ruleset.SourceHost:
		return r.hostName(), false
	}
	return "", false
}

// headerValue returns the one value of a header, empty if it is missing.
func (r *request) headerValue(name string) (value string, ambiguous bool) {
	if name == hostHeader {
		return r.hostName(), false
	}
	var only oneValue
	for _, value := range r.view.Header(name) {
		only.add(value)
	}
	return only.result()
}

// param is the value of a parameter of the rule's template, empty if it names none.
func (m *met) param(name string) string {
	for i := range m.params {
		if m.params[i].Name == name {
			return m.params[i].Value
		}
	}
	return ""
}

// oneValue is a value that may be given several times if it is always the same.
type oneValue struct {
	value     string
	given     bool
	ambiguous bool
}

func (o *oneValue) add(value string) {
	if o.given && value != o.value {
		o.ambiguous = true
	}
	o.value, o.given = value, true
}

func (o *oneValue) result() (value string, ambiguous bool) { return o.value, o.ambiguous }

// isKeyedByPath reports whether the path is part of a key.
func isKeyedByPath(key []ruleset.KeyPart) bool {
	return slices.ContainsFunc(key, func(part ruleset.KeyPart) bool {
		return slices.ContainsFunc(part.From, func(source ruleset.KeySource) bool {
			return source.Kind == ruleset.SourcePath || source.Kind == ruleset.SourcePathParam
		})
	})
}

// checkKey refuses what would otherwise silently count as missing.
func checkKey(key []ruleset.KeyPart) error {
	for i := range key {
		for j := range key[i].From {
			if err := checkSource(&key[i].From[j]); err != nil {
				return fmt.Errorf("key part %q: %w", key[i].Name, err)
			}
		}
	}
	return nil
}

func checkSource(source *ruleset.KeySource) error {
	switch source.Kind {
	case ruleset.SourceClientIP, ruleset.SourcePath, ruleset.SourceMethod, ruleset.SourceHost:
	case ruleset.SourceHeader, ruleset.SourceCookie, ruleset.SourceQueryParam, ruleset.SourcePathParam, ruleset.SourceExpression, ruleset.SourceJWTClaim:
		if source.Name == "" {
			return fmt.Errorf("source of kind %s has no name", source.Kind)
		}
	default:
		return fmt.Errorf("source kind %q is not known to this version", source.Kind)
	}
	if source.Kind == ruleset.SourceHeader && source.Name != strings.ToLower(source.Name) {
		return fmt.Errorf("header name %q is not in lower case", source.Name)
	}
	return nil
}
