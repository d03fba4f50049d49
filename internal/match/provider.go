// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package match

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/penstock-dev/penstock/internal/match/token"
	"github.com/penstock-dev/penstock/internal/ruleset"
)

// Keys gives the key sets that issuers are named with by URL. It is asked while a
// request waits, so it never waits itself.
type Keys interface {
	// Keys returns the key set of a URL; nil until there is one, and where the last
	// is too old to be believed.
	Keys(url string) *token.KeySet
	// Renew asks for a newer key set, as a token names a key that the set lacks.
	Renew(url string)
}

// Options are what a matcher needs besides rules. The zero value is complete.
type Options struct {
	// Keys gives key sets by URL; nil has none, so that no token of an issuer with a
	// URL is believed.
	Keys Keys
	// Now is the clock that tokens are compared with; nil is time.Now.
	Now func() time.Time
	// Before is the matcher of the rules before, or nil. Issuers of whom both say the
	// same keep the tokens that were verified, as long as the keys are the same, too.
	Before *Matcher
}

func (o Options) orDefault() Options {
	if o.Keys == nil {
		o.Keys = noKeys{}
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	return o
}

// noKeys has no key set.
type noKeys struct{}

func (noKeys) Keys(string) *token.KeySet { return nil }
func (noKeys) Renew(string)              {}

// authorization is the header whose token follows the scheme Bearer.
const authorization = "authorization"

// provider is an issuer that a policy names, ready to verify tokens. Policies that
// say the same of an issuer share one, and with it what is remembered.
type provider struct {
	headers  []string
	verifier *token.Verifier
	// inline are the keys of a policy that holds them itself, else nil.
	inline *token.KeySet
	url    string
	keys   Keys
	now    func() time.Time
}

// namedProvider is a provider under the name that a policy gives it.
type namedProvider struct {
	policy *ruleset.Policy
	name   string
	*provider
}

// isFor reports whether a source of a key may be a claim of this provider.
func (n *namedProvider) isFor(source *ruleset.KeySource) bool {
	return source.Provider == "" || source.Provider == n.name
}

// providers are those of one policy, in its order.
type providers []namedProvider

// compileProviders readies the issuers of a policy.
func (m *Matcher) compileProviders(policy *ruleset.Policy) (providers, error) {
	named := make(providers, 0, len(policy.JWT))
	for i := range policy.JWT {
		ready, err := m.compileProvider(policy.JWT[i])
		if err != nil {
			return nil, fmt.Errorf("issuer %q: %w", policy.JWT[i].Name, err)
		}
		named = append(named, namedProvider{policy, policy.JWT[i].Name, ready})
	}
	return named, nil
}

func (m *Matcher) compileProvider(form ruleset.JWTProvider) (*provider, error) {
	form.Name = ""
	encoded, err := json.Marshal(form)
	if err != nil {
		return nil, err
	}
	if known := m.issuers[string(encoded)]; known != nil {
		return known, nil
	}
	if len(form.Headers) == 0 || slices.ContainsFunc(form.Headers, func(name string) bool { return name != strings.ToLower(name) }) {
		return nil, fmt.Errorf("headers %q: want at least one, in lower case", form.Headers)
	}
	ready := &provider{headers: form.Headers, url: form.JWKSURL, keys: m.options.Keys, now: m.options.Now}
	if (form.JWKSURL == "") == (form.JWKS == "") {
		return nil, errors.New("want exactly one of keys and their URL")
	}
	before := m.options.Before.issuer(string(encoded))
	switch {
	case before != nil:
		ready.verifier, ready.inline = before.verifier, before.inline
	case form.JWKS != "":
		if ready.inline, err = token.ParseKeySet([]byte(form.JWKS)); err != nil {
			return nil, fmt.Errorf("keys: %w", err)
		}
	}
	if ready.verifier == nil {
		ready.verifier = token.NewVerifier(token.Issuer{Name: form.Issuer, Audiences: form.Audiences})
	}
	m.issuers[string(encoded)] = ready
	return ready, nil
}

// issuer is the provider of whom this was said, nil if there is none.
func (m *Matcher) issuer(said string) *provider {
	if m == nil {
		return nil
	}
	return m.issuers[said]
}

// KeyAddresses are where the keys of the issuers are that the pod's policies name, in the
// order of their URLs.
func (m *Matcher) KeyAddresses() []token.KeyAddress {
	namedBy := make(map[string][]token.Naming)
	for i := range m.policies {
		policy := m.policies[i].policy
		for j := range policy.JWT {
			url := policy.JWT[j].JWKSURL
			naming := token.Naming{
				Policy: ruleset.PolicyLabel(policy.Kind, policy.Name), Provider: policy.JWT[j].Name, Issuer: policy.JWT[j].Issuer,
			}
			// A policy is there once for each target that counts apart.
			if url != "" && !slices.Contains(namedBy[url], naming) {
				namedBy[url] = append(namedBy[url], naming)
			}
		}
	}
	addresses := make([]token.KeyAddress, 0, len(namedBy))
	for _, url := range slices.Sorted(maps.Keys(namedBy)) {
		addresses = append(addresses, token.KeyAddress{URL: url, NamedBy: namedBy[url]})
	}
	return addresses
}
