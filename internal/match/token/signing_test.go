// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package token

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/hmac"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha256"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"maps"
	"sync"
	"testing"
	"time"

	"github.com/go-jose/go-jose/v4"
)

// now is the time in all tests.
var now = time.Unix(1_800_000_000, 0)

// keyPairs are made once: RSA keys take their time.
type keyPairs struct {
	rsa, otherRSA *rsa.PrivateKey
	p256, p384    *ecdsa.PrivateKey
	p521          *ecdsa.PrivateKey
	ed25519       ed25519.PrivateKey
}

var pairs = sync.OnceValue(func() keyPairs {
	must := func(err error) {
		if err != nil {
			panic(err)
		}
	}
	var k keyPairs
	var err error
	k.rsa, err = rsa.GenerateKey(rand.Reader, 2048)
	must(err)
	k.otherRSA, err = rsa.GenerateKey(rand.Reader, 2048)
	must(err)
	k.p256, err = ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	must(err)
	k.p384, err = ecdsa.GenerateKey(elliptic.P384(), rand.Reader)
	must(err)
	k.p521, err = ecdsa.GenerateKey(elliptic.P521(), rand.Reader)
	must(err)
	_, k.ed25519, err = ed25519.GenerateKey(rand.Reader)
	must(err)
	return k
})

// setOf is the key set of these entries.
func setOf(t testing.TB, keys ...jose.JSONWebKey) *KeySet {
	t.Helper()
	text, err := json.Marshal(jose.JSONWebKeySet{Keys: keys})
	if err != nil {
		t.Fatal(err)
	}
	set, err := ParseKeySet(text)
	if err != nil {
		t.Fatalf("read %s: %v", text, err)
	}
	return set
}

// standard is a set with a key of each kind under its own name.
func standard(t testing.TB) *KeySet {
	k := pairs()
	return setOf(
		t,
		jose.JSONWebKey{Key: k.rsa.Public(), KeyID: "rsa"},
		jose.JSONWebKey{Key: k.p256.Public(), KeyID: "p256", Algorithm: "ES256", Use: "sig"},
		jose.JSONWebKey{Key: k.p384.Public(), KeyID: "p384"},
		jose.JSONWebKey{Key: k.p521.Public(), KeyID: "p521"},
		jose.JSONWebKey{Key: k.ed25519.Public(), KeyID: "ed25519"},
	)
}

type members = map[string]any

// good are claims that are believed, with changes; a nil removes one.
func good(changes members) members {
	claims := members{"iss": "https://id.example.com", "aud": "shop", "sub": "ada", "exp": now.Add(time.Hour).Unix()}
	maps.Copy(claims, changes)
	maps.DeleteFunc(claims, func(_ string, value any) bool { return value == nil })
	return claims
}

func encoded(t testing.TB, part any) string {
	t.Helper()
	text, err := json.Marshal(part)
	if err != nil {
		t.Fatal(err)
	}
	return base64.RawURLEncoding.EncodeToString(text)
}

// signed signs by the algorithm that the header names.
func signed(t testing.TB, head, claims members, key crypto.PrivateKey) string {
	t.Helper()
	return signedText(t, encoded(t, head), encoded(t, claims), head["alg"].(string), key)
}

func signedText(t testing.TB, head, payload, alg string, key crypto.PrivateKey) string {
	t.Helper()
	text := head + "." + payload
	hash := map[string]crypto.Hash{"256": crypto.SHA256, "384": crypto.SHA384, "512": crypto.SHA512}[alg[2:]]
	var signature []byte
	var err error
	switch key := key.(type) {
	case *rsa.PrivateKey:
		if alg[:2] == "PS" {
			signature, err = rsa.SignPSS(rand.Reader, key, hash, digest(hash, text), &rsa.PSSOptions{SaltLength: rsa.PSSSaltLengthEqualsHash})
		} else {
			signature, err = rsa.SignPKCS1v15(rand.Reader, key, hash, digest(hash, text))
		}
	case *ecdsa.PrivateKey:
		r, s, failed := ecdsa.Sign(rand.Reader, key, digest(hash, text))
		if err = failed; err == nil {
			length := (key.Curve.Params().BitSize + 7) / 8
			signature = append(r.FillBytes(make([]byte, length)), s.FillBytes(make([]byte, length))...)
		}
	case ed25519.PrivateKey:
		signature = ed25519.Sign(key, []byte(text))
	case []byte:
		state := hmac.New(sha256.New, key)
		state.Write([]byte(text))
		signature = state.Sum(nil)
	}
	if err != nil {
		t.Fatal(err)
	}
	return text + "." + base64.RawURLEncoding.EncodeToString(signature)
}

// publicDER is what a confused verifier may take for a secret.
func publicDER(t testing.TB, key crypto.PublicKey) []byte {
	t.Helper()
	der, err := x509.MarshalPKIXPublicKey(key)
	if err != nil {
		t.Fatal(err)
	}
	return der
}

func verifier() *Verifier {
	return NewVerifier(Issuer{Name: "https://id.example.com", Audiences: []string{"shop", "till"}})
}
