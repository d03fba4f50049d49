// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package compile

import (
	"strings"
	"unicode"

	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/penstock-dev/penstock/api/v1alpha1"
	"github.com/penstock-dev/penstock/internal/match/expression"
	"github.com/penstock-dev/penstock/internal/ruleset"
)

const (
	maxKeyParts   = 4
	maxKeySources = 4
	maxKeyName    = 63
)

func compileKey(rule *v1alpha1.Rule, at *field.Path, found *findings) []ruleset.KeyPart {
	parts := rule.Key
	atMost(found, at, len(parts), maxKeyParts)
	var compiled []ruleset.KeyPart
	partNames := newNames(found)
	for i := range parts {
		part, partAt := &parts[i], at.Index(i)
		partNames.check(partAt.Child("name"), part.Name)
		oneOf(found, partAt.Child("onMissing"), string(part.OnMissing), "", "Share", "Skip", "Deny")
		form := ruleset.KeyPart{Name: part.Name, OnMissing: ruleset.OnMissing(part.OnMissing)}
		if part.OnMissing == "" {
			form.OnMissing = ruleset.MissingShare
		}
		from := partAt.Child("from")
		if len(part.From) == 0 {
			found.invalid(from, "has no source: write at least one, such as clientIP: {}")
		}
		atMost(found, from, len(part.From), maxKeySources)
		for j := range part.From {
			if source, ok := compileSource(&part.From[j], rule, from.Index(j), found); ok {
				form.From = append(form.From, source)
			}
		}
		compiled = append(compiled, form)
	}
	return compiled
}

// compileSource wants exactly one field, and reports whether there is one.
func compileSource(source *v1alpha1.KeySource, rule *v1alpha1.Rule, at *field.Path, found *findings) (ruleset.KeySource, bool) {
	switch countSources(source) {
	case 0:
		found.invalid(at, "is empty: write exactly one source, such as clientIP: {} or header: {name: X-API-Key}")
		return ruleset.KeySource{}, false
	case 1:
	default:
		found.invalid(at, "has more than one source: write each as an entry of its own, the first that yields a value is taken")
		return ruleset.KeySource{}, false
	}
	switch {
	case source.ClientIP != nil:
		return ruleset.KeySource{Kind: ruleset.SourceClientIP}, true
	case source.Header != nil:
		name := source.Header.Name
		if !headerName.MatchString(name) || len(name) > maxHeaderName {
			found.invalid(at.Child("header", "name"), "%q is not the name of a header: write one such as X-API-Key", name)
		}
		return ruleset.KeySource{Kind: ruleset.SourceHeader, Name: strings.ToLower(name)}, true
	case source.Cookie != nil:
		return namedSource(ruleset.SourceCookie, source.Cookie, at.Child("cookie", "name"), found), true
	case source.QueryParam != nil:
		return namedSource(ruleset.SourceQueryParam, source.QueryParam, at.Child("queryParam", "name"), found), true
	case source.PathParam != nil:
		checkPathParam(source.PathParam.Name, rule.Matches, at, found)
		return namedSource(ruleset.SourcePathParam, source.PathParam, at.Child("pathParam", "name"), found), true
	case source.Path != nil:
		return ruleset.KeySource{Kind: ruleset.SourcePath}, true
	case source.Method != nil:
		return ruleset.KeySource{Kind: ruleset.SourceMethod}, true
	case source.Host != nil:
		return ruleset.KeySource{Kind: ruleset.SourceHost}, true
	case source.Expression != "":
		checkExpression(expression.Key, source.Expression, at.Child("expression"), found)
		return ruleset.KeySource{Kind: ruleset.SourceExpression, Name: source.Expression}, true
	case source.JWTClaim != nil:
		return compileClaim(source.JWTClaim, at.Child("jwtClaim"), found), true
	}
	return ruleset.KeySource{}, false
}

// namedSource wants a name as the schema has it. Its case matters.
func namedSource(kind ruleset.KeySourceKind, named *v1alpha1.NamedKey, at *field.Path, found *findings) ruleset.KeySource {
	if named.Name == "" {
		found.invalid(at, "is missing: write 1 to %d characters without white space", maxKeyName)
	} else if len(named.Name) > maxKeyName || strings.ContainsFunc(named.Name, unicode.IsSpace) {
		found.invalid(at, "%q is not a name: write 1 to %d characters without white space", named.Name, maxKeyName)
	}
	return ruleset.KeySource{Kind: kind, Name: named.Name}
}

func countSources(s *v1alpha1.KeySource) int {
	count := 0
	for _, set := range []bool{
		s.ClientIP != nil, s.Header != nil, s.JWTClaim != nil, s.Cookie != nil, s.QueryParam != nil,
		s.PathParam != nil, s.Path != nil, s.Method != nil, s.Host != nil, s.Expression != "",
	} {
		if set {
			count++
		}
	}
	return count
}
