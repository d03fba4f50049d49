// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"log/slog"
	"net/url"
	"sync"
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

// withoutQuery drops what may be secret in a URL.
func withoutQuery(address string) string {
	parsed, err := url.Parse(address)
	if err != nil {
		return ""
	}
	parsed.RawQuery, parsed.User = "", nil
	return parsed.String()
}
