// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package compile

import (
	"net/url"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/penstock-dev/penstock/api/v1alpha1"
	"github.com/penstock-dev/penstock/internal/match/token"
	"github.com/penstock-dev/penstock/internal/ruleset"
)

const (
	maxProviders    = 4
	maxAudiences    = 8
	maxLocations    = 4
	maxClaim        = 256
	maxJWKSURL      = 512
	maxInlineInAll  = 32 << 10
	defaultLocation = "authorization"
)

// compileJWT compiles the issuers of a policy.
func compileJWT(jwt *v1alpha1.JWT, found *findings) []ruleset.JWTProvider {
	if jwt == nil {
		return nil
	}
	at := spec.Child("jwt", "providers")
	if len(jwt.Providers) == 0 {
		found.invalid(at, "has no provider: name at least one, or remove jwt")
	}
	atMost(found, at, len(jwt.Providers), maxProviders)
	compiled := make([]ruleset.JWTProvider, 0, len(jwt.Providers))
	names, inline := newNames(found), 0
	for i := range jwt.Providers {
		provider := &jwt.Providers[i]
		names.check(at.Index(i).Child("name"), provider.Name)
		compiled = append(compiled, compileProvider(provider, at.Index(i), found))
		inline += len(provider.JWKS.Inline)
	}
	if inline > maxInlineInAll {
		found.invalid(at, "hold %d characters of keys, at most %d are allowed in all: name the keys by url, or leave out those no longer in use", inline, maxInlineInAll)
	}
	return compiled
}

func compileProvider(provider *v1alpha1.JWTProvider, at *field.Path, found *findings) ruleset.JWTProvider {
	form := ruleset.JWTProvider{
		Name: provider.Name, Issuer: provider.Issuer, Audiences: provider.Audiences,
		JWKSURL: provider.JWKS.URL, JWKS: provider.JWKS.Inline,
		Headers: compileLocations(provider.From, at.Child("from"), found),
	}
	checkText(found, at.Child("issuer"), provider.Issuer, "what the claim iss of its tokens is")
	audiences := at.Child("audiences")
	atMost(found, audiences, len(provider.Audiences), maxAudiences)
	for i, audience := range provider.Audiences {
		checkText(found, audiences.Index(i), audience, "a value of the claim aud")
	}
	checkJWKS(&provider.JWKS, at.Child("jwks"), found)
	return form
}

// checkText wants what a claim can be compared with.
func checkText(found *findings, at *field.Path, text, what string) {
	switch {
	case text == "":
		found.invalid(at, "is empty: write %s", what)
	case len([]rune(text)) > maxClaim:
		found.invalid(at, "has %d characters, at most %d are allowed: shorten it", len([]rune(text)), maxClaim)
	}
}

func checkJWKS(jwks *v1alpha1.JWKS, at *field.Path, found *findings) {
	switch {
	case jwks.URL == "" && jwks.Inline == "":
		found.invalid(at, "has no keys: write where they are in url, or the keys themselves in inline")
	case jwks.URL != "" && jwks.Inline != "":
		found.invalid(at, "has both url and inline: remove one")
	case jwks.URL != "":
		parsed, err := url.Parse(jwks.URL)
		if err != nil || parsed.Scheme != "https" || parsed.Hostname() == "" || parsed.User != nil || parsed.Fragment != "" || len(jwks.URL) > maxJWKSURL {
			found.invalid(at.Child("url"), "is no address to fetch keys from: write one of at most %d characters that begins with https:// and holds no user and no fragment", maxJWKSURL)
		}
	default:
		set, err := token.ParseKeySet([]byte(jwks.Inline))
		switch {
		case err != nil:
			found.invalid(at.Child("inline"), "cannot be used: %v", err)
		case set.HoldsSecret:
			found.invalid(at.Child("inline"), "holds a private or symmetric key, with which every reader of this policy can sign tokens: write public keys only, and replace that key at the issuer")
		}
	}
}

// compileLocations compiles where a request carries the token.
func compileLocations(from []v1alpha1.JWTLocation, at *field.Path, found *findings) []string {
	if len(from) == 0 {
		return []string{defaultLocation}
	}
	atMost(found, at, len(from), maxLocations)
	headers := make([]string, 0, len(from))
	for i, location := range from {
		if location.Header == nil {
			found.invalid(at.Index(i), "is empty: write a place such as header: {name: Authorization}")
			continue
		}
		name := location.Header.Name
		if !headerName.MatchString(name) || len(name) > maxHeaderName {
			found.invalid(at.Index(i).Child("header", "name"), "%q is not the name of a header: write one such as Authorization", name)
		}
		headers = append(headers, strings.ToLower(name))
	}
	return headers
}

// compileClaim compiles a claim as the source of a part of a key.
func compileClaim(claim *v1alpha1.JWTClaimKey, at *field.Path, found *findings) ruleset.KeySource {
	checkText(found, at.Child("name"), claim.Name, "the name of a claim, such as sub")
	oneOf(found, at.Child("verification"), string(claim.Verification), "", "Required", "None")
	form := ruleset.KeySource{Kind: ruleset.SourceJWTClaim, Name: claim.Name, Provider: claim.Provider}
	if claim.Verification == v1alpha1.JWTVerificationNone {
		form.Unverified = true
		if claim.Provider != "" {
			found.invalid(at.Child("provider"), "has no effect on an unverified token: remove it, or verification: None")
		}
		found.warn(v1alpha1.ReasonUnverifiedToken, at.Child("verification"), "is None: whoever reaches the pod chooses this claim, and so whom to be counted as; remove it unless something before every pod verifies tokens")
	}
	return form
}

// providerNames are the names of a policy's providers, in its order.
func providerNames(jwt *v1alpha1.JWT) []string {
	if jwt == nil {
		return nil
	}
	var names []string
	for i := range jwt.Providers {
		names = append(names, jwt.Providers[i].Name)
	}
	return names
}

// checkProviders wants the providers of claims to be those of the policy.
func checkProviders(s *v1alpha1.RateLimitPolicySpec, found *findings) {
	for i := range s.Rules {
		for j := range s.Rules[i].Key {
			for k := range s.Rules[i].Key[j].From {
				claim := s.Rules[i].Key[j].From[k].JWTClaim
				if claim == nil || claim.Verification != "" && claim.Verification != v1alpha1.JWTVerificationRequired {
					continue
				}
				at := spec.Child("rules").Index(i).Child("key").Index(j).Child("from").Index(k).Child("jwtClaim")
				switch {
				case len(found.providers) == 0:
					found.invalid(at, "needs somebody to verify tokens: name the issuer in spec.jwt.providers")
				case claim.Provider != "" && !slices.Contains(found.providers, claim.Provider):
					found.invalid(at.Child("provider"), "%q is no provider of spec.jwt: add it there, or name one that is", claim.Provider)
				}
			}
		}
	}
}
