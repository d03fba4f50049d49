// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"crypto/ed25519"
	"crypto/x509"
	"encoding/base64"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"github.com/penstock-dev/penstock/internal/jwks"
	"github.com/penstock-dev/penstock/internal/match/token"
	"github.com/penstock-dev/penstock/internal/proxy"
	"github.com/penstock-dev/penstock/internal/ruleset"
	"github.com/penstock-dev/penstock/internal/store"
)

// TestEnforcementFollowsIssuers has the keys be fetched of the issuers that the rules
// in force name, and forgotten with them.
func TestEnforcementFollowsIssuers(t *testing.T) {
	t.Parallel()
	public := ed25519.NewKeyFromSeed(make([]byte, ed25519.SeedSize)).Public().(ed25519.PublicKey)
	issuer := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_, _ = w.Write([]byte(`{"keys":[{"kty":"OKP","crv":"Ed25519","x":"` + base64.RawURLEncoding.EncodeToString(public) + `"}]}`))
	}))
	t.Cleanup(issuer.Close)
	roots := x509.NewCertPool()
	roots.AddCert(issuer.Certificate())
	fetched := make(chan error, 10)
	e := &enforcement{setRules: func(*proxy.Rules) {}, keys: jwks.New(jwks.Options{
		Client: jwks.NewClient(roots), Report: func(_ token.KeyAddress, err error) { fetched <- err },
	})}
	var group sync.WaitGroup
	group.Go(func() { e.keys.Run(t.Context()) })
	t.Cleanup(group.Wait)
	rules := limited(3)
	rules.Policies[0].JWT = []ruleset.JWTProvider{{Name: "idp", Issuer: "idp", JWKSURL: issuer.URL, Headers: []string{"authorization"}}}
	if err := e.apply(store.Update{Revision: "r1", RuleSet: rules}); err != nil {
		t.Fatal(err)
	}
	if err := <-fetched; err != nil || e.keys.Keys(issuer.URL) == nil {
		t.Errorf("error %v, there are keys: %v", err, e.keys.Keys(issuer.URL) != nil)
	}
	if err := e.apply(store.Update{Revision: "r2", RuleSet: limited(3)}); err != nil || e.keys.Keys(issuer.URL) != nil {
		t.Errorf("error %v; keys of nobody are kept: %v", err, e.keys.Keys(issuer.URL) != nil)
	}
}

// TestKeysAreToldOfOnce logs when fetching fails and when it succeeds again, and
// nothing that may be secret.
func TestKeysAreToldOfOnce(t *testing.T) {
	t.Parallel()
	var log strings.Builder
	tell := tellKeys(slog.New(slog.NewTextHandler(&log, nil)))
	for _, err := range []error{nil, http.ErrAbortHandler, http.ErrAbortHandler, nil, nil} {
		tell(token.KeyAddress{
			URL: "https://id.example.com/jwks?code=hidden", NamedBy: []token.Naming{{Policy: "web", Provider: "idp", Issuer: "https://id.example.com"}},
		}, err)
	}
	const whose = "url=https://id.example.com/jwks policy=web provider=idp issuer=https://id.example.com"
	if lines := strings.Count(log.String(), "\n"); lines != 2 || strings.Contains(log.String(), "hidden") || strings.Count(log.String(), whose) != 2 {
		t.Errorf("want one line of the failure and one of its end, got:\n%s", log.String())
	}
}

// TestIgnoredIssuersAreToldOfOnce logs that a pod has too many of them, and nothing that
// may be secret.
func TestIgnoredIssuersAreToldOfOnce(t *testing.T) {
	t.Parallel()
	var log strings.Builder
	e := &enforcement{setRules: func(*proxy.Rules) {}, keys: jwks.New(jwks.Options{
		ReportIgnored: tellIgnored(slog.New(slog.NewTextHandler(&log, nil))),
	})}
	rules := limited(3)
	for i := range jwks.MostURLs + 3 {
		name := fmt.Sprintf("idp-%03d", i)
		rules.Policies[0].JWT = append(rules.Policies[0].JWT, ruleset.JWTProvider{
			Name: name, Issuer: name, JWKSURL: "https://" + name + ".example/jwks?code=hidden", Headers: []string{"authorization"},
		})
	}
	for _, labels := range []map[string]string{nil, {"app": "web"}} {
		if err := e.apply(store.Update{Revision: "r1", RuleSet: rules}); err != nil {
			t.Fatal(err)
		}
		if err := e.relabel(labels); err != nil {
			t.Fatal(err)
		}
	}
	want := "level=WARN"
	if strings.Count(log.String(), "\n") != 1 || !strings.Contains(log.String(), want) || strings.Contains(log.String(), "hidden") ||
		!strings.Contains(log.String(), "fetched=64 ignored=3 firstIgnored.url=https://idp-064.example/jwks firstIgnored.policy=web firstIgnored.provider=idp-064 firstIgnored.issuer=idp-064") {
		t.Errorf("want one warning of 3 addresses, got:\n%s", log.String())
	}
}
