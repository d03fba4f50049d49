// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package token

import (
	"crypto/rand"
	"crypto/rsa"
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/go-jose/go-jose/v4"
	"github.com/google/go-cmp/cmp"
)

func TestParseKeySet(t *testing.T) {
	t.Parallel()
	k := pairs()
	small, err := rsa.GenerateKey(rand.Reader, 1024)
	if err != nil {
		t.Fatal(err)
	}
	many := make([]jose.JSONWebKey, MaxKeys+1)
	for i := range many {
		many[i] = jose.JSONWebKey{Key: k.p256.Public()}
	}
	text := func(keys ...jose.JSONWebKey) string {
		encoded, err := json.Marshal(jose.JSONWebKeySet{Keys: keys})
		if err != nil {
			t.Fatal(err)
		}
		return string(encoded)
	}
	good := jose.JSONWebKey{Key: k.p256.Public(), KeyID: "a"}
	tests := map[string]struct {
		text       string
		wantKeys   int
		wantSecret bool
		wantError  string
	}{
		"one":                {text(good), 1, false, ""},
		"same name twice":    {text(good, jose.JSONWebKey{Key: k.ed25519.Public(), KeyID: "a"}), 2, false, ""},
		"unknown kinds":      {`{"keys":[{"kty":"XYZ"},{"kty":"OKP","crv":"X25519","x":"AA"},{}]}`, 0, false, "no public key"},
		"one of no use":      {strings.Replace(text(good), `{"keys":[`, `{"keys":[{"kty":"XYZ"},{"kty":"EC","crv":"P-256","x":"AA","y":"AA"},`, 1), 1, false, ""},
		"off the curve":      {strings.Replace(text(good), `"y":"`, `"y":"AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA","z":"`, 1), 0, false, "no public key"},
		"for encryption":     {text(jose.JSONWebKey{Key: k.rsa.Public(), Use: "enc"}), 0, false, "no public key"},
		"short RSA":          {text(jose.JSONWebKey{Key: small.Public()}), 0, false, "no public key"},
		"private, symmetric": {text(good, jose.JSONWebKey{Key: k.p384}, jose.JSONWebKey{Key: []byte("secret")}), 1, true, ""},
		"too many":           {text(many...), 0, false, "at most 64"},
		"no JSON":            {"<html>", 0, false, "no JSON Web Key Set"},
		"keys twice":         {`{"keys":[],"keys":[]}`, 0, false, "no JSON Web Key Set"},
		"no keys":            {`{}`, 0, false, "no public key"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			set, err := ParseKeySet([]byte(tc.text))
			if tc.wantError != "" {
				if err == nil || !strings.Contains(err.Error(), tc.wantError) {
					t.Errorf("error %v, want one with %q", err, tc.wantError)
				}
				return
			}
			if err != nil || len(set.keys) != tc.wantKeys || set.HoldsSecret != tc.wantSecret {
				t.Errorf("%+v, error %v; want %d keys, secret %v", set, err, tc.wantKeys, tc.wantSecret)
			}
		})
	}
}

// TestKeysSayWhatTheyAreFor has a key refuse algorithms that it was not made for, and
// a name that several keys share try them all.
func TestKeysSayWhatTheyAreFor(t *testing.T) {
	t.Parallel()
	k := pairs()
	set := setOf(t, jose.JSONWebKey{Key: k.otherRSA.Public(), KeyID: "a"}, jose.JSONWebKey{Key: k.rsa.Public(), KeyID: "a", Algorithm: "PS256"})
	if _, err := verifier().Verify(signed(t, members{"alg": "PS256", "kid": "a"}, good(nil), k.rsa), set, now); err != nil {
		t.Errorf("by its algorithm: %v", err)
	}
	if _, err := verifier().Verify(signed(t, members{"alg": "RS256", "kid": "a"}, good(nil), k.rsa), set, now); !errors.Is(err, ErrSignature) {
		t.Errorf("by another algorithm: %v", err)
	}
	if _, err := verifier().Verify(signed(t, members{"alg": "RS256", "kid": "a"}, good(nil), k.otherRSA), set, now); err != nil {
		t.Errorf("by the other key of the name: %v", err)
	}
}

func TestClaims(t *testing.T) {
	t.Parallel()
	payload := `{"sub":"ada","id":12345678901234567890,"half":1.50,"yes":true,"no":false,"none":null,"empty":"",
		"list":["a"],"realm":{"name":"x","deep":{"er":7}},"realm.name":"literal","https://a.example/plan":"pro"}`
	claims, err := Unverified("e30." + strict.EncodeToString([]byte(payload)) + ".")
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{
		"sub": "ada", "id": "12345678901234567890", "half": "1.50", "yes": "true", "no": "false",
		"none": "", "empty": "", "list": "", "realm": "", "realm.name": "literal", "realm.deep.er": "7",
		"realm.deep": "", "sub.x": "", "https://a.example/plan": "pro", "absent": "", ".": "", "SUB": "",
	} {
		if got := claims.Text(name); got != want {
			t.Errorf("claim %q is %q, want %q", name, got, want)
		}
	}
	values := claims.Values()
	if diff := cmp.Diff(map[string]any{"name": "x", "deep": map[string]any{"er": int64(7)}}, values["realm"]); diff != "" {
		t.Errorf("realm (-want +got):\n%s", diff)
	}
	if values["half"] != 1.5 || values["id"] != 12345678901234567890.0 {
		t.Errorf("half is %v, id is %v", values["half"], values["id"])
	}
}

// FuzzVerify looks for texts that are believed although they say something else than
// the one that was signed.
func FuzzVerify(f *testing.F) {
	keys := standard(f)
	text := signed(f, members{"alg": "EdDSA", "kid": "ed25519"}, good(nil), pairs().ed25519)
	for _, seed := range []string{text, "", "..", "e30.e30.", text + "=", strings.ToUpper(text)} {
		f.Add(seed)
	}
	says := text[:strings.LastIndexByte(text, '.')+1]
	f.Fuzz(func(t *testing.T, changed string) {
		if _, err := verifier().Verify(changed, keys, now); err == nil && !strings.HasPrefix(changed, says) {
			t.Errorf("%q is believed", changed)
		}
		if claims, err := Unverified(changed); err == nil {
			claims.Text("a.b")
			claims.Values()
		}
	})
}

func BenchmarkVerify(b *testing.B) {
	k := pairs()
	for name, tc := range map[string]struct {
		head members
		key  any
	}{
		"ES256": {members{"alg": "ES256", "kid": "p256"}, k.p256},
		"RS256": {members{"alg": "RS256", "kid": "rsa"}, k.rsa},
		"EdDSA": {members{"alg": "EdDSA", "kid": "ed25519"}, k.ed25519},
	} {
		text, keys := signed(b, tc.head, good(nil), tc.key), standard(b)
		b.Run(name+"/new", func(b *testing.B) {
			for b.Loop() {
				if _, err := verifier().Verify(text, keys, now); err != nil {
					b.Fatal(err)
				}
			}
		})
		b.Run(name+"/remembered", func(b *testing.B) {
			v := verifier()
			b.ReportAllocs()
			for b.Loop() {
				if _, err := v.Verify(text, keys, now); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
