// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"crypto/ed25519"
	"crypto/rand"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// signer is an issuer's key.
type signer struct {
	private ed25519.PrivateKey
	// keys is its key set.
	keys string
}

func newSigner(t *testing.T) *signer {
	t.Helper()
	public, private, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	x := base64.RawURLEncoding.EncodeToString(public)
	return &signer{private: private, keys: `{"keys": [{"kty": "OKP", "crv": "Ed25519", "kid": "one", "x": "` + x + `"}]}`}
}

// token signs claims, which expire in an hour.
func (s *signer) token(t *testing.T, claims map[string]any) string {
	t.Helper()
	claims["exp"] = time.Now().Add(time.Hour).Unix()
	payload, err := json.Marshal(claims)
	if err != nil {
		t.Fatal(err)
	}
	text := base64.RawURLEncoding.EncodeToString([]byte(`{"alg":"EdDSA","kid":"one"}`)) + "." + base64.RawURLEncoding.EncodeToString(payload)
	return text + "." + base64.RawURLEncoding.EncodeToString(ed25519.Sign(s.private, []byte(text)))
}

// TestTokensInForce sends tokens to rules that allow each client one request an hour
// and do not apply to requests without client.
func TestTokensInForce(t *testing.T) {
	t.Parallel()
	idp, other := newSigner(t), newSigner(t)
	const issuer = "https://id.example.com"
	as := func(s *signer, changes ...string) string {
		claims := map[string]any{"iss": issuer, "aud": "shop", "sub": "ada"}
		for i := 0; i < len(changes); i += 2 {
			claims[changes[i]] = changes[i+1]
		}
		return s.token(t, claims)
	}
	bearer := func(token string) ask { return ask{header: map[string]string{"Authorization": "bEARER " + token}} }
	in := func(header, token string) ask { return ask{header: map[string]string{header: token}} }
	provider := func(more string) string {
		return "{name: idp, issuer: '" + issuer + "', jwks: {inline: '" + idp.keys + "'}" + more + "}"
	}
	rule := func(claim string) string {
		return "rules: [{name: all, key: [{name: client, onMissing: Skip, from: [{jwtClaim: " + claim + "}]}], limits: [{name: hour, requests: 1, window: 1h}]}]"
	}
	type step struct {
		ask
		want int
	}
	ada, eve := bearer(as(idp)), bearer(as(idp, "sub", "eve"))
	tests := map[string]struct {
		providers, claim string
		steps            []step
	}{
		"claim": {provider(""), "{name: sub}", []step{{ada, allowed}, {eve, allowed}, {ada, refused}, {eve, refused}, {ask{}, allowed}}},
		"claim of an object": {provider(""), "{name: realm.id}", []step{
			{bearer(idp.token(t, map[string]any{"iss": issuer, "realm": map[string]any{"id": 7}})), allowed},
			{bearer(idp.token(t, map[string]any{"iss": issuer, "realm": map[string]any{"id": 8}})), allowed},
			{bearer(idp.token(t, map[string]any{"iss": issuer, "x": 1, "realm": map[string]any{"id": 7}})), refused},
		}},
		"signature": {provider(""), "{name: sub, verification: Required}", []step{{bearer(as(other)), allowed}, {bearer(as(other)), allowed}, {ada, allowed}, {ada, refused}}},
		"issuer":    {provider(""), "{name: sub}", []step{{bearer(as(idp, "iss", issuer+"/")), allowed}, {bearer(as(idp, "iss", issuer+"/")), allowed}, {ada, allowed}, {ada, refused}}},
		"audiences": {provider(", audiences: [till, shop]"), "{name: sub}", []step{{bearer(as(idp, "aud", "bank")), allowed}, {bearer(as(idp, "aud", "bank")), allowed}, {ada, allowed}, {bearer(as(idp, "aud", "till")), refused}}},
		"from": {provider(", from: [{header: {name: X-Id-Token}}, {header: {name: Authorization}}]"), "{name: sub}", []step{
			{in("X-Id-Token", as(idp)), allowed},
			{ada, refused},
			{ask{header: map[string]string{"X-Id-Token": "bad", "Authorization": "Bearer " + as(idp)}}, refused},
			{ask{header: map[string]string{"Authorization": "JWT " + as(idp)}}, refused},
		}},
		"provider": {
			provider("") + ", {name: partner, issuer: partner, jwks: {inline: '" + other.keys + "'}, from: [{header: {name: X-Partner}}]}", "{name: sub, provider: partner}",
			[]step{{ada, allowed}, {ada, allowed}, {in("X-Partner", as(other, "iss", "partner")), allowed}, {in("X-Partner", as(other, "iss", "partner")), refused}},
		},
		"any provider": {
			provider("") + ", {name: partner, issuer: partner, jwks: {inline: '" + other.keys + "'}, from: [{header: {name: X-Partner}}]}", "{name: sub}",
			[]step{{ada, allowed}, {in("X-Partner", as(other, "iss", "partner")), allowed}, {ada, refused}, {in("X-Partner", as(other, "iss", "partner")), refused}},
		},
		"verification None": {provider(""), "{name: sub, verification: None}", []step{{bearer(as(other)), allowed}, {ada, refused}, {bearer("e30.eyJzdWIiOiJhZGEifQ."), refused}, {bearer("nothing"), allowed}}},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			server := startRun(t, "jwt: {providers: ["+tc.providers+"]}\n"+rule(tc.claim), memoryStore)
			for i, step := range tc.steps {
				if got := server.send(step.ask).StatusCode; got != step.want {
					t.Errorf("request %d was answered with %d, want %d", i+1, got, step.want)
				}
			}
		})
	}
}

// TestRulesByAClaimThatMayBeAbsent has the rules of docs/semantics.md, which are for a
// group: one is for everybody without the claim as well.
func TestRulesByAClaimThatMayBeAbsent(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("../../docs/semantics.md")
	if err != nil {
		t.Fatal(err)
	}
	_, example, found := strings.Cut(string(text), "the second is for the group alone:\n\n```yaml\n")
	if !found {
		t.Fatal("docs/semantics.md has no example of a claim that may be absent")
	}
	example, _, _ = strings.Cut(example, "```")
	rules := strings.Split(strings.TrimSpace(example), "\n")
	if len(rules) != 2 {
		t.Fatalf("the example has %d lines, want two", len(rules))
	}
	idp := newSigner(t)
	in := func(claims map[string]any) ask {
		claims["iss"] = "i"
		return ask{header: map[string]string{"Authorization": "Bearer " + idp.token(t, claims)}}
	}
	trial, others := in(map[string]any{"groups": []string{"trial"}}), map[string]ask{
		"another group": in(map[string]any{"groups": []string{"staff"}}), "no groups": in(map[string]any{}), "no token": {},
	}
	for i, wantOthers := range []map[string]int{
		{"another group": allowed, "no groups": refused, "no token": refused},
		{"another group": allowed, "no groups": allowed, "no token": allowed},
	} {
		server := startRun(t, "jwt: {providers: [{name: idp, issuer: i, jwks: {inline: '"+idp.keys+"'}}]}\n"+
			"rules:\n- name: all\n  limits: [{name: hour, requests: 1, window: 1h}]\n  "+rules[i], memoryStore)
		if first, second := server.send(trial).StatusCode, server.send(trial).StatusCode; first != allowed || second != refused {
			t.Errorf("rule %d: the group was answered with %d and %d, want it to be limited", i+1, first, second)
		}
		for name, want := range wantOthers {
			if got := server.send(others[name]).StatusCode; got != want {
				t.Errorf("rule %d, %s: answered with %d, want %d", i+1, name, got, want)
			}
		}
	}
}

// TestKeysAreFetched names keys by URL, of a provider that is reached by its own
// certificate, and then cannot be reached any more.
func TestKeysAreFetched(t *testing.T) {
	t.Parallel()
	idp := newSigner(t)
	asked := make(chan struct{}, 100)
	server := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_, _ = w.Write([]byte(idp.keys))
		asked <- struct{}{}
	}))
	t.Cleanup(server.Close)
	roots := filepath.Join(t.TempDir(), "ca.pem")
	if err := os.WriteFile(roots, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw}), 0o600); err != nil {
		t.Fatal(err)
	}
	spec := "jwt: {providers: [{name: idp, issuer: i, jwks: {url: '" + server.URL + "/keys'}}]}\n" +
		"rules: [{name: all, key: [{name: client, onMissing: Deny, from: [{jwtClaim: {name: sub}}]}], limits: [{name: hour, requests: 1000, window: 1h}]}]"
	running := startRun(t, spec, memoryStore, "--jwks-ca", roots)
	authorized := ask{header: map[string]string{"Authorization": "Bearer " + idp.token(t, map[string]any{"iss": "i", "sub": "ada"})}}
	select {
	case <-asked:
	case <-time.After(10 * time.Second):
		t.Fatal("the keys were not fetched within 10 s")
	}
	status := 0
	for began := time.Now(); status != allowed && time.Since(began) < 10*time.Second; {
		status = running.send(authorized).StatusCode
	}
	if status != allowed {
		t.Errorf("the last answer was %d although the keys were fetched, want %d", status, allowed)
	}
	server.Close()
	if got := running.send(authorized).StatusCode; got != allowed {
		t.Errorf("without the provider the answer was %d, want %d", got, allowed)
	}
}

func TestKeysOfABadFile(t *testing.T) {
	t.Parallel()
	empty := filepath.Join(t.TempDir(), "ca.pem")
	if err := os.WriteFile(empty, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{empty: "no certificate in PEM", empty + "x": "no such file"} {
		if _, err := keysOf(name, nil); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: error %v, want one with %q", name, err, want)
		}
	}
}
