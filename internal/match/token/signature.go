// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package token

import (
	"crypto"
	"crypto/sha256"
	"encoding/base64"
	"strings"
)

// digits are those of base64url in order of their value.
const digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"

// maxDigits is as long as the signature of the longest key is, and a bit.
const maxDigits = (maxRSABits/8+2)/3*4 + 4

// decodeSignature reads a signature in whatever spelling any decoder of base64 takes for
// it: with padding, with characters that are no digits, with digits of the other
// alphabet, with something after its end. A signature covers all of a token but its own
// spelling, which the client can choose. Of a token that an app believes, and this does
// not, the claims would be missing.
func decodeSignature(encoded string) ([]byte, error) {
	var spelled strings.Builder
	spelled.Grow(min(len(encoded), maxDigits))
	for i := 0; i < len(encoded) && spelled.Len() < maxDigits; i++ {
		switch c := encoded[i]; {
		case c == '+':
			spelled.WriteByte('-')
		case c == '/':
			spelled.WriteByte('_')
		case strings.IndexByte(digits, c) >= 0:
			spelled.WriteByte(c)
		}
	}
	text := spelled.String()
	if len(text)%4 == 1 {
		// One digit is less than a byte.
		text = text[:len(text)-1]
	}
	return base64.RawURLEncoding.DecodeString(text)
}

// verifySignature reports by an error if none of the keys made the signature. It cuts off
// what follows the signature.
func (p *parsed) verifySignature(algorithm *algorithm, keys *KeySet) error {
	candidates, named := keys.candidates(p.keyID, algorithm)
	if !named {
		return ErrUnknownKey
	}
	for _, key := range candidates {
		if p.isSignedBy(algorithm, key) {
			return nil
		}
	}
	return ErrSignature
}

func (p *parsed) isSignedBy(algorithm *algorithm, key crypto.PublicKey) bool {
	length := algorithm.signatureBytes(key)
	if len(p.signature) < length || !algorithm.verify(key, p.signed, p.signature[:length]) {
		return false
	}
	p.signature = p.signature[:length]
	return true
}

// sum names a verified token in the one spelling that encoding gives.
func (p *parsed) sum() sum {
	return sha256.Sum256([]byte(p.signed + "." + strict.EncodeToString(p.signature)))
}
