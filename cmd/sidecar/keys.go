// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"log/slog"
	"net/url"
	"sync"

	"github.com/penstock-dev/penstock/internal/jwks"
)

// tellKeys returns what logs when keys cannot be fetched any more, and when they can
// again. It is called from several goroutines.
func tellKeys(log *slog.Logger) func(address string, err error) {
	var mu sync.Mutex
	failing := make(map[string]bool)
	return func(address string, err error) {
		mu.Lock()
		defer mu.Unlock()
		if failing[address] == (err != nil) {
			return
		}
		if failing[address] = err != nil; err != nil {
			log.Warn("Keys of an issuer cannot be fetched, those of before are used for a day", "url", withoutQuery(address), "error", err)
			return
		}
		log.Info("Keys of an issuer are fetched again", "url", withoutQuery(address))
	}
}

// tellIgnored logs which keys are never fetched. It is asked once for each list of them.
func tellIgnored(log *slog.Logger) func(urls []string) {
	return func(urls []string) {
		log.Warn("Policies name more addresses of keys (jwks.url) than a pod fetches, so tokens of the other issuers are not verified: write their keys inline, or part the policies among pods",
			"fetched", jwks.MostURLs, "ignored", len(urls), "firstIgnored", withoutQuery(urls[0]))
	}
}

// withoutQuery drops what may be secret in a URL.
func withoutQuery(address string) string {
	parsed, err := url.Parse(address)
	if err != nil {
		return ""
	}
	parsed.RawQuery, parsed.User = "", nil
	return parsed.String()
}
