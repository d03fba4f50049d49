// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package token

import (
	"bytes"
	"crypto"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/rsa"
	"errors"
	"fmt"

	"github.com/go-jose/go-jose/v4"
	"github.com/go-jose/go-jose/v4/json"
)

const (
	// MaxKeys is how many keys of a set are looked at.
	MaxKeys = 64
	// maxTried is how many keys are tried on one token that does not say which it
	// is, or whose name several share.
	maxTried = 4
	// Bounds of RSA keys in bits: shorter ones can be broken (RFC 7518, section
	// 3.3), longer ones cost more than a request should.
	minRSABits, maxRSABits = 2048, 8192
)

// ErrNoKeys says that a set has no key that verifies anything.
var ErrNoKeys = errors.New("it has no public key that is used here (RSA of 2048 to 8192 bits, P-256, P-384, P-521 or Ed25519, for signatures)")

// KeySet are the public keys of an issuer. It never changes.
type KeySet struct {
	keys []publicKey
	// HoldsSecret says that the set also has a private or symmetric key. These are
	// never used: whoever can read the set can sign with them.
	HoldsSecret bool
}

type publicKey struct {
	id string
	// algorithm is the only one for the key; empty if the set does not say.
	algorithm string
	key       crypto.PublicKey
}

// ParseKeySet reads a JSON Web Key Set (RFC 7517). Keys that are not used here are
// left out; the error wraps ErrNoKeys if no other is left.
func ParseKeySet(text []byte) (*KeySet, error) {
	var raw struct {
		Keys []json.RawMessage `json:"keys"`
	}
	if err := json.Unmarshal(text, &raw); err != nil {
		return nil, fmt.Errorf("it is no JSON Web Key Set: %w", err)
	}
	if len(raw.Keys) > MaxKeys {
		return nil, fmt.Errorf("it has %d keys, at most %d are read", len(raw.Keys), MaxKeys)
	}
	set := &KeySet{}
	for _, entry := range raw.Keys {
		key := jose.JSONWebKey{}
		if err := key.UnmarshalJSON(bytes.TrimSpace(entry)); err != nil {
			continue
		}
		set.add(&key)
	}
	if len(set.keys) == 0 {
		return nil, ErrNoKeys
	}
	return set, nil
}

func (s *KeySet) add(key *jose.JSONWebKey) {
	if !key.IsPublic() {
		s.HoldsSecret = true
		return
	}
	if key.Use != "" && key.Use != "sig" || !key.Valid() {
		return
	}
	if public, isRSA := key.Key.(*rsa.PublicKey); isRSA {
		if bits := public.N.BitLen(); bits < minRSABits || bits > maxRSABits {
			return
		}
	}
	switch key.Key.(type) {
	case *rsa.PublicKey, *ecdsa.PublicKey, ed25519.PublicKey:
		s.keys = append(s.keys, publicKey{id: key.KeyID, algorithm: key.Algorithm, key: key.Key})
	}
}

// candidates are the keys to try on a token: those of the name it gives, else all,
// of those that fit its algorithm. named says whether the set has the name.
func (s *KeySet) candidates(keyID string, algorithm *algorithm) (fitting []crypto.PublicKey, named bool) {
	for i := range s.keys {
		key := &s.keys[i]
		if keyID != "" && key.id != keyID {
			continue
		}
		named = true
		if key.algorithm != "" && key.algorithm != algorithm.name || !algorithm.fits(key.key) {
			continue
		}
		if len(fitting) < maxTried {
			fitting = append(fitting, key.key)
		}
	}
	return fitting, named
}
