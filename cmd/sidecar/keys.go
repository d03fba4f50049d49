// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"log/slog"
	"sync"

	"github.com/penstock-dev/penstock/internal/jwks"
	"github.com/penstock-dev/penstock/internal/match/token"
)

// tellKeys returns what logs when keys cannot be fetched any more, and when they can
// again. It is called from several goroutines.
func tellKeys(log *slog.Logger) func(address token.KeyAddress, err error) {
	var mu sync.Mutex
	failing := make(map[string]bool)
	return func(address token.KeyAddress, err error) {
		mu.Lock()
		defer mu.Unlock()
		if failing[address.URL] == (err != nil) {
			return
		}
		fields := jwks.LogFields(address)
		if failing[address.URL] = err != nil; err != nil {
			log.Warn("Keys of an issuer cannot be fetched, those of before are used for a day", append(fields, "error", err)...)
			return
		}
		log.Info("Keys of an issuer are fetched again", fields...)
	}
}

// tellIgnored logs which keys are never fetched. It is asked once for each list of them.
func tellIgnored(log *slog.Logger) func(addresses []token.KeyAddress) {
	return func(addresses []token.KeyAddress) {
		log.Warn("Policies name more addresses of keys (jwks.url) than a pod fetches, so tokens of the other issuers are not verified: write their keys inline, or part the policies among pods",
			"fetched", jwks.MostURLs, "ignored", len(addresses), slog.Group("firstIgnored", jwks.LogFields(addresses[0])...))
	}
}
