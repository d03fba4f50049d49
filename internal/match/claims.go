// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package match

import (
	"errors"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/penstock-dev/penstock/internal/match/token"
	"github.com/penstock-dev/penstock/internal/ruleset"
)

// bearing is what a request's headers bear for one provider.
type bearing struct {
	provider *provider
	// claims are those of a verified token; nil if there is none.
	claims *token.Claims
	// ambiguous says that the header with the token has several different values.
	ambiguous bool
}

// bearingOf verifies the token that a request bears for a provider, once. While a
// provider has no keys yet, no token is verified.
func (r *request) bearingOf(p *provider) bearing {
	for _, known := range r.bearings {
		if known.provider == p {
			return known
		}
	}
	found := bearing{provider: p}
	text, ambiguous := tokenIn(r.view, p.headers)
	switch {
	case ambiguous:
		found.ambiguous = true
	case text != "":
		found.claims = p.verify(text)
	}
	r.bearings = append(r.bearings, found)
	return found
}

func (p *provider) verify(text string) *token.Claims {
	keys := p.inline
	if keys == nil {
		keys = p.keys.Keys(p.url)
	}
	if keys == nil {
		return nil
	}
	claims, err := p.verifier.Verify(text, keys, p.now())
	if errors.Is(err, token.ErrUnknownKey) && p.inline == nil {
		p.keys.Renew(p.url)
	}
	return claims
}

// tokenIn returns the token of the first header that has one.
func tokenIn(view View, headers []string) (text string, ambiguous bool) {
	for _, name := range headers {
		values := view.Header(name)
		for _, value := range values {
			if text = tokenOf(name, value); text != "" {
				break
			}
		}
		if text != "" {
			differs := slices.ContainsFunc(values, func(other string) bool { return other != values[0] })
			return text, differs
		}
	}
	return "", false
}

// blanks part the words of a header's value.
const blanks = " \t"

// quotes may stand around a token, to some apps.
const quotes = `"'`

// tokenOf is the token in a header's value; empty if there is none. In Authorization it
// is the first word that has the form of one, or else the word after the scheme Bearer
// (RFC 6750), in whatever case. Many apps take the second word whatever the first is, and
// schemes other than Bearer carry tokens, too (RFC 9449).
func tokenOf(name, value string) string {
	if name != authorization {
		return strings.Trim(value, blanks)
	}
	bearer := afterBearer(value)
	if hasTokenForm(bearer) {
		return bearer
	}
	for word := range strings.FieldsFuncSeq(value, partsWords) {
		if hasTokenForm(word) {
			return word
		}
	}
	return bearer
}

// hasTokenForm reports whether a word has three parts.
func hasTokenForm(word string) bool { return strings.Count(word, ".") == 2 }

// partsWords reports whether apps may take a character of Authorization for the end of a
// word. What is no UTF-8 is to some a space of Latin-1.
func partsWords(c rune) bool {
	return c == utf8.RuneError || strings.ContainsRune(blanks+quotes+",;:", c)
}

// afterBearer is the word after the scheme Bearer; empty where that is not the scheme.
// What may follow the word is for nobody: many apps do not look there, and others refuse
// the request.
func afterBearer(value string) string {
	const scheme = "bearer"
	if len(value) <= len(scheme) || !strings.EqualFold(value[:len(scheme)], scheme) || strings.IndexByte(blanks, value[len(scheme)]) < 0 {
		return ""
	}
	word := strings.TrimLeft(value[len(scheme):], blanks+quotes)
	if end := strings.IndexAny(word, blanks); end >= 0 {
		word = word[:end]
	}
	return word
}

// claims are all claims of the token that the provider of a name verified; nil if it
// verified none. They must not be changed.
func (p providers) claims(request *request, name string) map[string]any {
	for _, named := range p {
		if named.name == name {
			if found := request.bearingOf(named.provider); found.claims != nil {
				return found.claims.Values()
			}
		}
	}
	return nil
}

// claim returns a claim as the value of a part of a key: who verified it, and what it
// says. Subjects of two issuers are two clients, whatever they are called. It is of
// the first provider, in the policy's order, that the source allows and whose token
// has the claim; empty if there is none.
func (p providers) claim(request *request, source *ruleset.KeySource) (value string, ambiguous bool) {
	if source.Unverified {
		return p.unverifiedClaim(request, source.Name)
	}
	for _, named := range p {
		if source.Provider != "" && source.Provider != named.name {
			continue
		}
		found := request.bearingOf(named.provider)
		if found.ambiguous {
			return "", true
		}
		if found.claims != nil {
			if text := found.claims.Text(source.Name); text != "" {
				return claimValue(named.name, text), false
			}
		}
	}
	return "", false
}

// unverifiedClaim believes whatever token is where the policy's providers look, or
// in Authorization if it has none.
func (p providers) unverifiedClaim(request *request, name string) (value string, ambiguous bool) {
	headers := []string{authorization}
	if len(p) > 0 {
		headers = headers[:0]
		for _, named := range p {
			headers = append(headers, named.headers...)
		}
	}
	bearer, ambiguous := tokenIn(request.view, headers)
	if bearer == "" || ambiguous {
		return "", ambiguous
	}
	claims, err := token.Unverified(bearer)
	if err != nil {
		return "", false // what is no token has no claim
	}
	if text := claims.Text(name); text != "" {
		return claimValue("", text), false
	}
	return "", false
}

// claimValue joins a claim with the provider that verified it; no name is that of
// none.
func claimValue(providerName, text string) string {
	return string(append(appendField(nil, providerName), text...))
}
