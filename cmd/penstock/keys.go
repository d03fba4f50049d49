// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"crypto/x509"
	"fmt"
	"log/slog"
	"os"

	"github.com/penstock-dev/penstock/internal/jwks"
	"github.com/penstock-dev/penstock/internal/match/token"
)

// keysOf makes what fetches the keys of issuers of tokens. It trusts the
// certificates of a file, or of the system if that is empty.
func keysOf(roots string, log *slog.Logger) (*jwks.Cache, error) {
	options := jwks.Options{Report: func(address token.KeyAddress, err error) {
		if err != nil {
			log.Warn("Keys of an issuer cannot be fetched", append(jwks.LogFields(address), "error", err)...)
		}
	}, ReportIgnored: func(addresses []token.KeyAddress) {
		log.Warn("Policies name more addresses of keys (jwks.url) than are fetched, so tokens of the other issuers are not verified: write their keys inline",
			"fetched", jwks.MostURLs, "ignored", len(addresses), slog.Group("firstIgnored", jwks.LogFields(addresses[0])...))
	}}
	if roots != "" {
		text, err := os.ReadFile(roots)
		if err != nil {
			return nil, fmt.Errorf("--jwks-ca: %w", err)
		}
		pool := x509.NewCertPool()
		if !pool.AppendCertsFromPEM(text) {
			return nil, fmt.Errorf("--jwks-ca %s: it holds no certificate in PEM", roots)
		}
		options.Client = jwks.NewClient(pool)
	}
	return jwks.New(options), nil
}
