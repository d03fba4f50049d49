// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"log/slog"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/penstock-dev/penstock/internal/match/token"
)

// TestKeysThatCannotBeFetchedAreNamed logs whose they are, and nothing that may be secret.
func TestKeysThatCannotBeFetchedAreNamed(t *testing.T) {
	t.Parallel()
	printed := &output{want: regexp.MustCompile("(.*Keys of an issuer cannot be fetched.*)\n"), found: make(chan []string, 1)}
	found := printed.found
	keys, err := keysOf("", slog.New(slog.NewTextHandler(printed, nil)))
	if err != nil {
		t.Fatal(err)
	}
	keys.Follow([]token.KeyAddress{{
		URL: "http://127.0.0.1/jwks?code=hidden", NamedBy: []token.Naming{{Policy: "web", Provider: "idp", Issuer: "https://id.example.com"}},
	}})
	ctx, stop := context.WithCancel(t.Context())
	var running sync.WaitGroup
	running.Go(func() { keys.Run(ctx) })
	defer running.Wait()
	defer stop()
	const want = `url=http://127.0.0.1/jwks policy=web provider=idp issuer=https://id.example.com error="its address is no https URL"`
	select {
	case line := <-found:
		if !strings.Contains(line[1], want) {
			t.Errorf("logged %s\nwant a line with %s", line[1], want)
		}
	case <-time.After(10 * time.Second):
		t.Fatal("nothing was logged within 10 s")
	}
}
