// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package token

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/go-jose/go-jose/v4/json"
)

// Leeway is how far the clock of an issuer may be from this process'.
const Leeway = 60 * time.Second

// Why a token is not believed.
var (
	// ErrUnknownKey says that the set has no key of the name that the token gives:
	// the issuer may have a new one.
	ErrUnknownKey = errors.New("the key that it names is not known")
	// ErrAlgorithm says that the algorithm is not accepted.
	ErrAlgorithm = errors.New("its algorithm is not accepted")
	// ErrSignature says that no key verifies the signature.
	ErrSignature = errors.New("its signature is by none of the issuer's keys")
	// ErrIssuer says that another issuer is named, or none.
	ErrIssuer = errors.New("it is by another issuer")
	// ErrAudience says that it is for others.
	ErrAudience = errors.New("it is for another audience")
	// ErrExpired says that its time is over.
	ErrExpired = errors.New("it has expired")
	// ErrNotYetValid says that its time has not begun.
	ErrNotYetValid = errors.New("it is not valid yet")
	// ErrLifetime says that it does not say when it expires, or has a time that is none.
	ErrLifetime = errors.New("it does not say from when to when it is valid")
	// ErrNoKeysYet says that there are no keys to verify its signature with.
	ErrNoKeysYet = errors.New("the issuer's keys are not there")
)

// Issuer is what a token must say to be believed.
type Issuer struct {
	// Name is what the claim iss must equal.
	Name string
	// Audiences are the values of which the claim aud must hold one; none is any.
	Audiences []string
}

// Verifier verifies the tokens of one issuer and remembers the good ones.
type Verifier struct {
	issuer Issuer
	good   *memory
}

// NewVerifier makes the verifier of an issuer.
func NewVerifier(issuer Issuer) *Verifier {
	return &Verifier{issuer: issuer, good: newMemory(maxRemembered, maxRememberedBytes)}
}

// Verify returns the claims of a token that one of the keys verifies, that is by the
// issuer, for one of the audiences, and valid at the time. Any other gives an error
// that wraps one of those above or ErrMalformed. Nil keys are those of an issuer whose
// keys are not known.
func (v *Verifier) Verify(text string, keys *KeySet, now time.Time) (*Claims, error) {
	if claims := v.good.get(sha256.Sum256([]byte(text)), keys, now); claims != nil {
		return claims, nil
	}
	p, err := parse(text)
	if err != nil {
		return nil, err
	}
	algorithm := algorithms[p.algorithm]
	if algorithm == nil {
		return nil, ErrAlgorithm
	}
	// What costs little comes before the signature.
	until, err := v.issuer.check(p.claims, now)
	if err != nil {
		return nil, err
	}
	if keys == nil {
		return nil, ErrNoKeysYet
	}
	if err := p.verifySignature(algorithm, keys); err != nil {
		return nil, err
	}
	claims := newClaims(p.claims)
	v.good.put(p.sum(), &remembered{claims: claims, keys: keys, until: until, size: len(p.signed) + len(p.signature)})
	return claims, nil
}

// check looks at issuer, audience and times. It returns when the token ends.
func (i *Issuer) check(claims map[string]any, now time.Time) (until time.Time, err error) {
	if name, isText := claims["iss"].(string); !isText || name != i.Name {
		return time.Time{}, ErrIssuer
	}
	if len(i.Audiences) > 0 && !i.isFor(claims["aud"]) {
		return time.Time{}, ErrAudience
	}
	expires, there, err := timeOf(claims, "exp")
	if err != nil || !there {
		return time.Time{}, fmt.Errorf("%w: exp is missing or no time", ErrLifetime)
	}
	until = expires.Add(Leeway)
	if !now.Before(until) {
		return time.Time{}, ErrExpired
	}
	for _, name := range []string{"nbf", "iat"} {
		from, there, err := timeOf(claims, name)
		if err != nil {
			return time.Time{}, fmt.Errorf("%w: %s is no time", ErrLifetime, name)
		}
		if there && now.Before(from.Add(-Leeway)) {
			return time.Time{}, fmt.Errorf("%w: %s is in the future", ErrNotYetValid, name)
		}
	}
	return until, nil
}

// isFor compares the claim aud, a text or a list of them, with the audiences.
func (i *Issuer) isFor(audience any) bool {
	switch audience := audience.(type) {
	case string:
		return slices.Contains(i.Audiences, audience)
	case []any:
		return slices.ContainsFunc(audience, func(entry any) bool {
			name, isText := entry.(string)
			return isText && slices.Contains(i.Audiences, name)
		})
	default:
		return false
	}
}

// latest is the last second that a time may name: the end of the year 9999.
const latest = 253402300799

// timeOf reads seconds since 1970, perhaps with a fraction.
func timeOf(claims map[string]any, name string) (at time.Time, there bool, err error) {
	value, there := claims[name]
	if !there {
		return time.Time{}, false, nil
	}
	number, isNumber := value.(json.Number)
	if !isNumber {
		return time.Time{}, true, fmt.Errorf("%s is no number", name)
	}
	seconds, err := number.Float64()
	if err != nil || seconds < 0 || seconds > latest {
		return time.Time{}, true, fmt.Errorf("%s is no time", name)
	}
	return time.Unix(int64(seconds), 0), true, nil
}
