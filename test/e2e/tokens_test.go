//go:build e2e

// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"crypto/ed25519"
	"crypto/rand"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/http"
	"testing"
	"time"
)

// signer is one key of an issuer.
type signer struct {
	private ed25519.PrivateKey
	id      string
}

func newSigner(t *testing.T, id string) signer {
	t.Helper()
	_, private, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	return signer{private, id}
}

// keySet is the issuer's public keys, of which this is the only one.
func (s signer) keySet() string {
	x := base64.RawURLEncoding.EncodeToString(s.private.Public().(ed25519.PublicKey))
	return fmt.Sprintf(`{"keys": [{"kty": "OKP", "crv": "Ed25519", "kid": %q, "x": %q}]}`, s.id, x)
}

// token is signed for an hour.
func (s signer) token(t *testing.T, issuer, audience, subject string) string {
	t.Helper()
	part := func(content map[string]any) string {
		text, err := json.Marshal(content)
		if err != nil {
			t.Fatal(err)
		}
		return base64.RawURLEncoding.EncodeToString(text)
	}
	text := part(map[string]any{"alg": "EdDSA", "kid": s.id}) + "." +
		part(map[string]any{"iss": issuer, "aud": audience, "sub": subject, "exp": time.Now().Add(time.Hour).Unix()})
	return text + "." + base64.RawURLEncoding.EncodeToString(ed25519.Sign(s.private, []byte(text)))
}

// publishKeys has the issuer in the cluster serve a key set.
func (c *cluster) publishKeys(t *testing.T, keySet string) {
	t.Helper()
	var replies []reply
	c.exchange(t, map[string]any{"requests": []map[string]any{{
		"method": http.MethodPut, "url": "https://issuer.e2e-redis.svc.cluster.local/document", "body": keySet,
	}}}, &replies)
	if len(replies) != 1 || replies[0].Status != http.StatusOK {
		t.Fatalf("the issuer took the keys with %+v, want 200", replies)
	}
}

func bearer(path, token string) ask {
	return ask{path: path, header: map[string]string{"Authorization": "Bearer " + token}}
}

// testTokens counts by the subject of tokens, with keys in the policy and with keys
// that the sidecars fetch from the issuer in the cluster. Then the issuer changes its keys.
func (c *cluster) testTokens(t *testing.T) {
	t.Run("keys in the policy", func(t *testing.T) {
		const path, issuer = "/tokens/inline", "https://inline.example.com"
		as := func(s signer, issuer, audience, subject string) ask {
			return bearer(path, s.token(t, issuer, audience, subject))
		}
		ada := as(c.inline, issuer, "shop", "ada")
		c.wantAnswers(t, []step{
			{ada, 200}, {ada, 200}, {ada, 429}, {as(c.inline, issuer, "shop", "eve"), 200},
			{as(c.fetched, issuer, "shop", "a stranger's signature"), 429}, {as(c.inline, issuer, "bank", "another audience"), 429},
			{as(c.inline, "https://fetched.example.com", "shop", "another issuer"), 429}, {ask{path: path}, 429},
		})
	})
	t.Run("keys of the issuer", func(t *testing.T) {
		c.awaitVerified(t, 30*time.Second, c.fetched)
		ada := bearer("/tokens/fetched", c.fetchedToken(t, c.fetched, "ada"))
		c.wantAnswers(t, []step{{ada, 200}, {ada, 200}, {ada, 429}, {bearer("/tokens/fetched", c.fetchedToken(t, c.inline, "eve")), 429}})
	})
	c.rotated = newSigner(t, "second")
	c.publishKeys(t, c.rotated.keySet())
	// A token with an unknown key has the sidecars ask for it, half a minute after their
	// last fetch at the soonest. Other stories are told meanwhile.
	c.send(t, 1, repeat(20, bearer("/tokens/fetched", c.fetchedToken(t, c.rotated, "early")))...)
}

// testRotatedKeys goes on where testTokens ended.
func (c *cluster) testRotatedKeys(t *testing.T) {
	c.awaitVerified(t, 60*time.Second, c.rotated)
	grace := bearer("/tokens/fetched", c.fetchedToken(t, c.rotated, "grace"))
	c.wantAnswers(t, []step{{grace, 200}, {grace, 200}, {grace, 429}, {bearer("/tokens/fetched", c.fetchedToken(t, c.fetched, "late")), 429}})
}

func (c *cluster) fetchedToken(t *testing.T, s signer, subject string) string {
	t.Helper()
	return s.token(t, "https://fetched.example.com", "anyone", subject)
}

// awaitVerified waits until every sidecar verifies tokens of a signer, of which each
// is someone else's, so that none meets its limit.
func (c *cluster) awaitVerified(t *testing.T, within time.Duration, s signer) {
	t.Helper()
	var last map[int]int
	attempt := 0
	c.eventually(t, within, "the sidecars verify tokens by the key "+s.id, func() bool {
		var asks []ask
		for i := range 20 {
			attempt++
			asks = append(asks, bearer("/tokens/fetched", c.fetchedToken(t, s, fmt.Sprintf("%s-%d-%d", s.id, attempt, i))))
		}
		last = statuses(c.send(t, 20, asks...))
		return last[http.StatusOK] == len(asks)
	}, func() string { return fmt.Sprintf("answers by status: %v", last) })
}
