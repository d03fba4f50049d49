// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package token

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/rsa"
	"math/big"
)

// algorithm is one way to sign (RFC 7518, section 3.1; RFC 8037).
type algorithm struct {
	name string
	// fits says whether a key is of the kind that the algorithm wants.
	fits func(crypto.PublicKey) bool
	// signatureBytes is how long a signature by a key is.
	signatureBytes func(crypto.PublicKey) int
	verify         func(key crypto.PublicKey, signed string, signature []byte) bool
}

// algorithms are all that are accepted. There is no "none" and no HMAC, whose key
// whoever verifies could sign with too, and for which a public key could be passed off.
var algorithms = map[string]*algorithm{
	"RS256": rsaPKCS1("RS256", crypto.SHA256),
	"RS384": rsaPKCS1("RS384", crypto.SHA384),
	"RS512": rsaPKCS1("RS512", crypto.SHA512),
	"PS256": rsaPSS("PS256", crypto.SHA256),
	"PS384": rsaPSS("PS384", crypto.SHA384),
	"PS512": rsaPSS("PS512", crypto.SHA512),
	"ES256": curve("ES256", "P-256", crypto.SHA256),
	"ES384": curve("ES384", "P-384", crypto.SHA384),
	"ES512": curve("ES512", "P-521", crypto.SHA512),
	"EdDSA": {name: "EdDSA", fits: isEd25519, signatureBytes: ed25519Bytes, verify: verifyEd25519},
}

func isRSA(key crypto.PublicKey) bool {
	_, is := key.(*rsa.PublicKey)
	return is
}

func rsaBytes(key crypto.PublicKey) int { return key.(*rsa.PublicKey).Size() }

func isEd25519(key crypto.PublicKey) bool {
	public, is := key.(ed25519.PublicKey)
	return is && len(public) == ed25519.PublicKeySize
}

func ed25519Bytes(crypto.PublicKey) int { return ed25519.SignatureSize }

func verifyEd25519(key crypto.PublicKey, signed string, signature []byte) bool {
	return ed25519.Verify(key.(ed25519.PublicKey), []byte(signed), signature)
}

func digest(hash crypto.Hash, signed string) []byte {
	state := hash.New()
	state.Write([]byte(signed))
	return state.Sum(nil)
}

func rsaPKCS1(name string, hash crypto.Hash) *algorithm {
	return &algorithm{name: name, fits: isRSA, signatureBytes: rsaBytes, verify: func(key crypto.PublicKey, signed string, signature []byte) bool {
		return rsa.VerifyPKCS1v15(key.(*rsa.PublicKey), hash, digest(hash, signed), signature) == nil
	}}
}

func rsaPSS(name string, hash crypto.Hash) *algorithm {
	options := &rsa.PSSOptions{SaltLength: rsa.PSSSaltLengthEqualsHash}
	return &algorithm{name: name, fits: isRSA, signatureBytes: rsaBytes, verify: func(key crypto.PublicKey, signed string, signature []byte) bool {
		return rsa.VerifyPSS(key.(*rsa.PublicKey), hash, digest(hash, signed), signature, options) == nil
	}}
}

// curve signs with ECDSA; the signature is its two numbers, each as long as the
// curve's, one after the other (RFC 7518, section 3.4).
func curve(name, curveName string, hash crypto.Hash) *algorithm {
	fits := func(key crypto.PublicKey) bool {
		public, is := key.(*ecdsa.PublicKey)
		return is && public.Curve.Params().Name == curveName
	}
	signatureBytes := func(key crypto.PublicKey) int { return (key.(*ecdsa.PublicKey).Curve.Params().BitSize + 7) / 8 * 2 }
	verify := func(key crypto.PublicKey, signed string, signature []byte) bool {
		length := len(signature) / 2
		r, s := new(big.Int).SetBytes(signature[:length]), new(big.Int).SetBytes(signature[length:])
		return ecdsa.Verify(key.(*ecdsa.PublicKey), digest(hash, signed), r, s)
	}
	return &algorithm{name: name, fits: fits, signatureBytes: signatureBytes, verify: verify}
}
