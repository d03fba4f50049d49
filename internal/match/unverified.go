// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package match

import (
	"errors"
	"slices"

	"github.com/penstock-dev/penstock/internal/match/token"
	"github.com/penstock-dev/penstock/internal/ruleset"
)

// Disbelief is why no token of a request was verified: one of a few words, and nothing
// of what the token says.
type Disbelief string

// The reasons of disbelief, in the order in which a token is looked at: what failed later
// came nearer to be believed. Several says that a header has different values, or a
// request more tokens than are tried, so that which one the app takes cannot be known.
const (
	Malformed       Disbelief = "malformed"
	Algorithm       Disbelief = "algorithm"
	Issuer          Disbelief = "issuer"
	Audience        Disbelief = "audience"
	Lifetime        Disbelief = "lifetime"
	Expired         Disbelief = "expired"
	NotYetValid     Disbelief = "notYetValid"
	KeysUnavailable Disbelief = "keysUnavailable"
	Key             Disbelief = "key"
	Signature       Disbelief = "signature"
	Several         Disbelief = "several"
)

// disbeliefs are the errors of verifying, in that order.
var disbeliefs = []struct {
	err    error
	reason Disbelief
}{
	{token.ErrMalformed, Malformed},
	{token.ErrAlgorithm, Algorithm},
	{token.ErrIssuer, Issuer},
	{token.ErrAudience, Audience},
	{token.ErrLifetime, Lifetime},
	{token.ErrExpired, Expired},
	{token.ErrNotYetValid, NotYetValid},
	{token.ErrNoKeysYet, KeysUnavailable},
	{token.ErrUnknownKey, Key},
	{token.ErrSignature, Signature},
}

// UnverifiedToken says that a policy asked for a claim, and that a provider of it verified
// none of the tokens that the request bears. Of several it tells of what came nearest.
type UnverifiedToken struct {
	Policy *ruleset.Policy
	// Provider is as the policy names it.
	Provider string
	Reason   Disbelief
}

// disbelieved is the token of a request that came nearest to be verified by a provider,
// and how near: 0 is of no token.
type disbelieved struct {
	text  string
	steps int
}

// stepsOfSeveral are more than those of any token.
const stepsOfSeveral = 99

// add tells of a token that was not verified.
func (d *disbelieved) add(text string, err error) {
	for i := range disbeliefs {
		if steps := i + 1; steps > d.steps && errors.Is(err, disbeliefs[i].err) {
			d.text, d.steps = text, steps
		}
	}
}

func (d *disbelieved) reason() Disbelief {
	if d.steps == stepsOfSeveral {
		return Several
	}
	return disbeliefs[d.steps-1].reason
}

// doubt notes that a provider of a policy disbelieved a token. Whether another provider
// verifies it is known in the end only.
func (r *request) doubt(p providers) {
	isSame := func(other providers) bool { return &other[0] == &p[0] }
	if !slices.ContainsFunc(r.doubted, isSame) {
		r.doubted = append(r.doubted, p)
	}
}

// unverified tells, for each policy that asked for a claim, of a token that none of its
// providers verified.
func (r *request) unverified() []UnverifiedToken {
	var all []UnverifiedToken
	for _, p := range r.doubted {
		nearest := p.nearest(r, func(named *namedProvider) bool {
			return !p.verify(r, r.bearingOf(named.provider).disbelieved.text)
		})
		if nearest != nil {
			all = append(all, *nearest)
		}
	}
	return all
}

// nearest tells of the provider, of those that are wanted, that came nearest to verify a
// token and verified none; nil if there is none.
func (p providers) nearest(request *request, wanted func(*namedProvider) bool) *UnverifiedToken {
	var nearest disbelieved
	var of *namedProvider
	for i := range p {
		if found := request.bearingOf(p[i].provider); found.disbelieved.steps > nearest.steps && wanted(&p[i]) {
			nearest, of = found.disbelieved, &p[i]
		}
	}
	if of == nil {
		return nil
	}
	return &UnverifiedToken{Policy: of.policy, Provider: of.name, Reason: nearest.reason()}
}

// verify reports whether any of the providers verified a token.
func (p providers) verify(request *request, text string) bool {
	return text != "" && slices.ContainsFunc(p, func(named namedProvider) bool {
		return request.bearingOf(named.provider).verified == text
	})
}

// lacking is the claim that a missing part of a key is of, and the token that was to
// give it; nil where the part is of no claim, or no token was disbelieved.
func (p providers) lacking(request *request, part *ruleset.KeyPart) (claim string, unverified *UnverifiedToken) {
	for i := range part.From {
		source := &part.From[i]
		if source.Kind != ruleset.SourceJWTClaim || source.Unverified {
			continue
		}
		unverified = p.nearest(request, func(named *namedProvider) bool { return named.isFor(source) })
		if unverified != nil {
			return source.Name, unverified
		}
	}
	return "", nil
}
