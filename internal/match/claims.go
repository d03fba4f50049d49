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
	// verified is that token.
	verified string
	// disbelieved is of those tokens of which none is verified.
	disbelieved disbelieved
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
		claims, err := p.verify(text)
		if err == nil {
			found.claims, found.verified = claims, text
			break
		}
		found.disbelieved.add(text, err)
	}
	switch {
	case found.claims != nil:
		found.disbelieved = disbelieved{}
	case tokens.ambiguous:
		found.ambiguous, found.disbelieved = true, disbelieved{steps: stepsOfSeveral}
	}
	r.bearings = append(r.bearings, found)
	return found
}

func (p *provider) verify(text string) (*token.Claims, error) {
	keys := p.inline
	if keys == nil {
		keys = p.keys.Keys(p.url)
	}
	claims, err := p.verifier.Verify(text, keys, p.now())
	if errors.Is(err, token.ErrUnknownKey) && p.inline == nil {
		p.keys.Renew(p.url)
	}
	return claims, err
}

// bearingFor is what the request bears for one of the providers that is asked.
func (p providers) bearingFor(request *request, asked *namedProvider) bearing {
	found := request.bearingOf(asked.provider)
	if found.disbelieved.steps > 0 {
		request.doubt(p)
	}
	return found
}

// claims are all claims of the token that the provider of a name verified; nil if it
// verified none. They must not be changed.
func (p providers) claims(request *request, name string) map[string]any {
	for i := range p {
		if p[i].name == name {
			if found := p.bearingFor(request, &p[i]); found.claims != nil {
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
	for i := range p {
		if !p[i].isFor(source) {
			continue
		}
		found := p.bearingFor(request, &p[i])
		if found.ambiguous {
			return "", true
		}
		if found.claims != nil {
			if text := found.claims.Text(source.Name); text != "" {
				return claimValue(p[i].name, text), false
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
