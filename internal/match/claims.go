// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package match

import (
	"errors"

	"github.com/penstock-dev/penstock/internal/match/token"
	"github.com/penstock-dev/penstock/internal/ruleset"
)

// bearing is what a request's headers bear for one provider.
type bearing struct {
	provider *provider
	// claims are those of a verified token; nil if there is none.
	claims *token.Claims
	// ambiguous says that no token is verified, and which the app takes cannot be known.
	ambiguous bool
}

// bearingOf verifies the tokens that a request bears for a provider, once, and in order
// until one is verified: else whatever a client writes in the first place would hide the
// token that its app takes from another. While a provider has no keys yet, no token is
// verified.
func (r *request) bearingOf(p *provider) bearing {
	for _, known := range r.bearings {
		if known.provider == p {
			return known
		}
	}
	found := bearing{provider: p}
	tokens := tokensIn(r.view, p.headers)
	for _, text := range tokens.all() {
		if found.claims = p.verify(text); found.claims != nil {
			break
		}
	}
	found.ambiguous = tokens.ambiguous && found.claims == nil
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

// unverifiedClaim believes the first token that has the claim, whosever it is, of those
// where the policy's providers look, or in Authorization if it has none.
func (p providers) unverifiedClaim(request *request, name string) (value string, ambiguous bool) {
	headers := []string{authorization}
	if len(p) > 0 {
		headers = headers[:0]
		for _, named := range p {
			headers = append(headers, named.headers...)
		}
	}
	tokens := tokensIn(request.view, headers)
	for _, text := range tokens.all() {
		// What is no token has no claim.
		if claims, err := token.Unverified(text); err == nil {
			if text := claims.Text(name); text != "" {
				return claimValue("", text), false
			}
		}
	}
	return "", tokens.ambiguous
}

// claimValue joins a claim with the provider that verified it; no name is that of
// none.
func claimValue(providerName, text string) string {
	return string(append(appendField(nil, providerName), text...))
}
