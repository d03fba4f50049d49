// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package token

import (
	"encoding/base64"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/go-jose/go-jose/v4"
)

func TestEveryAlgorithmIsAccepted(t *testing.T) {
	t.Parallel()
	k := pairs()
	for alg, tc := range map[string]struct {
		kid string
		key any
	}{
		"RS256": {"rsa", k.rsa}, "RS384": {"rsa", k.rsa}, "RS512": {"rsa", k.rsa},
		"PS256": {"rsa", k.rsa}, "PS384": {"rsa", k.rsa}, "PS512": {"rsa", k.rsa},
		"ES256": {"p256", k.p256}, "ES384": {"p384", k.p384}, "ES512": {"p521", k.p521},
		"EdDSA": {"ed25519", k.ed25519},
	} {
		t.Run(alg, func(t *testing.T) {
			t.Parallel()
			for name, head := range map[string]members{"by name": {"alg": alg, "kid": tc.kid}, "without name": {"alg": alg}} {
				v := verifier()
				text := signed(t, head, good(nil), tc.key)
				for range 2 { // the second is remembered
					claims, err := v.Verify(text, standard(t), now)
					if err != nil || claims.Text("sub") != "ada" {
						t.Errorf("%s: claims %v, error %v", name, claims, err)
					}
				}
				broken := []byte(text)
				broken[len(broken)-10] ^= 1
				if _, err := v.Verify(string(broken), standard(t), now); !errors.Is(err, ErrSignature) && !errors.Is(err, ErrMalformed) {
					t.Errorf("%s: another signature: %v", name, err)
				}
			}
		})
	}
}

// TestHostileTokens are ways in which verifiers were once deceived.
func TestHostileTokens(t *testing.T) {
	t.Parallel()
	k := pairs()
	es := members{"alg": "ES256", "kid": "p256"}
	sign := func(claims members) string { return signed(t, es, good(claims), k.p256) }
	valid := sign(nil)
	parts := strings.Split(valid, ".")
	head := func(head members) string {
		return signedText(t, encoded(t, head), encoded(t, good(nil)), "ES256", k.p256)
	}
	payload := func(text string) string {
		return signedText(t, encoded(t, es), base64.RawURLEncoding.EncodeToString([]byte(text)), "ES256", k.p256)
	}
	own := jose.JSONWebKey{Key: k.otherRSA.Public(), KeyID: "rsa"}
	tests := map[string]struct {
		text string
		want error
	}{
		"empty":                 {"", ErrMalformed},
		"two parts":             {parts[0] + "." + parts[1], ErrMalformed},
		"four parts":            {valid + ".", ErrMalformed},
		"encrypted, five parts": {"a.b.c.d.e", ErrMalformed},
		"1 MiB":                 {parts[0] + "." + strings.Repeat("A", 1<<20) + "." + parts[2], ErrMalformed},
		"padded":                {parts[0] + "=." + parts[1] + "." + parts[2], ErrMalformed},
		"padded payload":        {parts[0] + "." + parts[1] + "=." + parts[2], ErrMalformed},
		"another signature":     {parts[0] + "." + parts[1] + "." + strings.Repeat("+", 86), ErrSignature},
		"line break":            {parts[0] + ".\n" + parts[1] + "." + parts[2], ErrMalformed},
		"no signature":          {parts[0] + "." + parts[1] + ".", ErrSignature},
		"truncated signature":   {parts[0] + "." + parts[1] + "." + parts[2][:80], ErrSignature},
		"signature of another":  {parts[0] + "." + encoded(t, good(members{"sub": "eve"})) + "." + parts[2], ErrSignature},
		"none":                  {encoded(t, members{"alg": "none"}) + "." + parts[1] + ".", ErrAlgorithm},
		"None":                  {encoded(t, members{"alg": "None"}) + "." + parts[1] + ".", ErrAlgorithm},
		"NONE":                  {encoded(t, members{"alg": "NONE"}) + "." + parts[1] + ".", ErrAlgorithm},
		"nOnE, signed":          {head(members{"alg": "nOnE", "kid": "p256"}), ErrAlgorithm},
		"alg in lower case":     {head(members{"alg": "es256", "kid": "p256"}), ErrAlgorithm},
		"alg missing":           {head(members{"kid": "p256"}), ErrMalformed},
		"alg is a list":         {head(members{"alg": []string{"ES256"}}), ErrMalformed},
		"HMAC with public key":  {signed(t, members{"alg": "HS256", "kid": "rsa"}, good(nil), publicDER(t, k.rsa.Public())), ErrAlgorithm},
		"HMAC by another name":  {signed(t, members{"alg": "RS256", "kid": "rsa"}, good(nil), publicDER(t, k.rsa.Public())), ErrSignature},
		"another RSA key":       {signed(t, members{"alg": "RS256", "kid": "rsa"}, good(nil), k.otherRSA), ErrSignature},
		"key brought along":     {signed(t, members{"alg": "RS256", "kid": "rsa", "jwk": own}, good(nil), k.otherRSA), ErrSignature},
		"key set named":         {signed(t, members{"alg": "RS256", "kid": "rsa", "jku": "https://evil.example.com"}, good(nil), k.otherRSA), ErrSignature},
		"wrong curve":           {signedText(t, encoded(t, members{"alg": "ES384", "kid": "p256"}), parts[1], "ES256", k.p256), ErrSignature},
		"wrong kind of key":     {signedText(t, encoded(t, members{"alg": "RS256", "kid": "p256"}), parts[1], "ES256", k.p256), ErrSignature},
		"unknown key":           {head(members{"alg": "ES256", "kid": "new"}), ErrUnknownKey},
		"key by a path":         {head(members{"alg": "ES256", "kid": "../p256"}), ErrUnknownKey},
		"kid is a number":       {head(members{"alg": "ES256", "kid": 1}), ErrMalformed},
		"crit":                  {head(members{"alg": "ES256", "kid": "p256", "crit": []string{"exp"}}), ErrMalformed},
		"b64":                   {head(members{"alg": "ES256", "kid": "p256", "b64": false}), ErrMalformed},
		"alg twice":             {signedText(t, base64.RawURLEncoding.EncodeToString([]byte(`{"alg":"ES256","alg":"none"}`)), parts[1], "ES256", k.p256), ErrMalformed},
		"nested token":          {payload(`"` + valid + `"`), ErrMalformed},
		"payload is null":       {payload(`null`), ErrMalformed},
		"payload is a list":     {payload(`[]`), ErrMalformed},
		"payload and more":      {payload(`{} {}`), ErrMalformed},
		"claim twice":           {payload(`{"iss":"https://evil.example.com","iss":"https://id.example.com"}`), ErrMalformed},
		"claim twice, inside":   {payload(`{"a":{"b":1,"b":2}}`), ErrMalformed},
		"not UTF-8":             {payload("{\"sub\":\"\xff\"}"), ErrMalformed},
		"too deep":              {payload(`{"a":` + strings.Repeat("[", 5000) + strings.Repeat("]", 5000) + `}`), ErrIssuer},
		"issuer missing":        {sign(members{"iss": nil}), ErrIssuer},
		"issuer with a slash":   {sign(members{"iss": "https://id.example.com/"}), ErrIssuer},
		"issuer as prefix":      {sign(members{"iss": "https://id.example.com.evil.example"}), ErrIssuer},
		"issuer in upper case":  {sign(members{"iss": "https://ID.example.com"}), ErrIssuer},
		"issuer in lookalikes":  {sign(members{"iss": "https://іd.example.com"}), ErrIssuer},
		"issuer is a list":      {sign(members{"iss": []string{"https://id.example.com"}}), ErrIssuer},
		"audience missing":      {sign(members{"aud": nil}), ErrAudience},
		"another audience":      {sign(members{"aud": "bank"}), ErrAudience},
		"audience list":         {sign(members{"aud": []any{"bank", 1, "sho"}}), ErrAudience},
		"audience is a number":  {sign(members{"aud": 1}), ErrAudience},
		"expired":               {sign(members{"exp": now.Add(-Leeway).Unix()}), ErrExpired},
		"never expires":         {sign(members{"exp": nil}), ErrLifetime},
		"expires as text":       {sign(members{"exp": "4102444800"}), ErrLifetime},
		"expires beyond time":   {sign(members{"exp": 1e300}), ErrLifetime},
		"expires before time":   {sign(members{"exp": -1}), ErrLifetime},
		"not yet valid":         {sign(members{"nbf": now.Add(Leeway + time.Second).Unix()}), ErrNotYetValid},
		"nbf as text":           {sign(members{"nbf": "0"}), ErrLifetime},
		"made in the future":    {sign(members{"iat": now.Add(2 * time.Minute).Unix()}), ErrNotYetValid},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if claims, err := verifier().Verify(tc.text, standard(t), now); !errors.Is(err, tc.want) {
				t.Errorf("claims %v, error %v; want %v", claims, err, tc.want)
			}
		})
	}
}

// TestSignaturesAreReadAsLenientlyAsByApps spells a signature, which nothing protects, in
// ways that decoders of base64 take for the same. A token that an app believes, and this
// does not, would be one more client.
func TestSignaturesAreReadAsLenientlyAsByApps(t *testing.T) {
	t.Parallel()
	k := pairs()
	var text string
	for !strings.ContainsAny(text[strings.LastIndexByte(text, '.')+1:], "-") || !strings.ContainsAny(text[strings.LastIndexByte(text, '.')+1:], "_") {
		text = signed(t, members{"alg": "ES256", "kid": "p256"}, good(nil), k.p256)
	}
	start := strings.LastIndexByte(text, '.') + 1
	before, signature := text[:start], text[start:]
	// 64 bytes are 86 digits, of whose last four bits are none of the signature's.
	last := strings.IndexByte(digits, signature[85])
	v, keys := verifier(), standard(t)
	for name, spelled := range map[string]string{
		"bits to spare":           signature[:85] + digits[last|5:last|5+1],
		"padded":                  signature + "==",
		"padded too little":       signature + "=",
		"something after padding": signature + "==AAAA",
		"standard digits":         strings.NewReplacer("-", "+", "_", "/").Replace(signature),
		"other characters":        "!" + signature[:40] + "\x80 ," + signature[40:] + "~",
		"very many of them":       signature + strings.Repeat("!", 2*MaxBytes),
	} {
		if claims, err := v.Verify(before+spelled, keys, now); err != nil || claims.Text("sub") != "ada" {
			t.Errorf("%s: %v", name, err)
		}
	}
	if remembered := v.good.recent.Len(); remembered > 2 {
		t.Errorf("%d spellings of one token are remembered", remembered)
	}
}

func TestTokensAtTheEdgeAreAccepted(t *testing.T) {
	t.Parallel()
	k := pairs()
	for name, changes := range map[string]members{
		"just expired, within the leeway": {"exp": now.Add(-Leeway + time.Second).Unix()},
		"expires at a fraction":           {"exp": float64(now.Unix()) + 0.5},
		"valid in a minute":               {"nbf": now.Add(Leeway).Unix(), "iat": now.Add(Leeway).Unix()},
		"audience in a list":              {"aud": []string{"bank", "till"}},
		"unicode":                         {"sub": "ада 🎈"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			text := signed(t, members{"alg": "ES256", "kid": "p256", "typ": "at+jwt"}, good(changes), k.p256)
			if _, err := verifier().Verify(text, standard(t), now); err != nil {
				t.Error(err)
			}
		})
	}
}

// TestTokensOfAnIssuerWithoutKeys are looked at as far as that goes without keys: what
// another issuer signed is not waiting for this one's.
func TestTokensOfAnIssuerWithoutKeys(t *testing.T) {
	t.Parallel()
	sign := func(claims members) string {
		return signed(t, members{"alg": "ES256", "kid": "p256"}, good(claims), pairs().p256)
	}
	for text, want := range map[string]error{sign(nil): ErrNoKeysYet, sign(members{"iss": "other"}): ErrIssuer} {
		if claims, err := verifier().Verify(text, nil, now); !errors.Is(err, want) {
			t.Errorf("claims %v, error %v; want %v", claims, err, want)
		}
	}
}

func TestARememberedTokenEnds(t *testing.T) {
	t.Parallel()
	v, keys := verifier(), standard(t)
	text := signed(t, members{"alg": "ES256", "kid": "p256"}, good(nil), pairs().p256)
	if _, err := v.Verify(text, keys, now); err != nil {
		t.Fatal(err)
	}
	if _, err := v.Verify(text, keys, now.Add(time.Hour+Leeway)); !errors.Is(err, ErrExpired) {
		t.Errorf("after its end: %v", err)
	}
	if _, err := v.Verify(text, keys, now); err != nil {
		t.Fatal(err)
	}
	rotated := setOf(t, jose.JSONWebKey{Key: pairs().p384.Public(), KeyID: "p384"})
	if _, err := v.Verify(text, rotated, now); !errors.Is(err, ErrUnknownKey) {
		t.Errorf("after the key was withdrawn: %v", err)
	}
}

func TestMemoryIsBounded(t *testing.T) {
	t.Parallel()
	keys := standard(t)
	m := newMemory(3, 100)
	put := func(name byte, size int) {
		m.put(sum{name}, &remembered{claims: newClaims(nil), keys: keys, until: now.Add(time.Hour), size: size})
	}
	for name := range byte(5) {
		put(name, 1)
	}
	put(4, 1)
	if m.recent.Len() != 3 || len(m.bySum) != 3 || m.bytes != 3 {
		t.Errorf("%d entries, %d names, %d bytes; want 3 of each", m.recent.Len(), len(m.bySum), m.bytes)
	}
	m.get(sum{2}, keys, now)
	put(5, 99)
	if m.recent.Len() != 2 || m.get(sum{2}, keys, now) == nil {
		t.Errorf("%d entries; want the last used to stay and the rest to make room", m.recent.Len())
	}
}
