// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package store_test

import (
	"testing"

	"github.com/penstock-dev/penstock/internal/redisconn"
	"github.com/penstock-dev/penstock/internal/store"
	"github.com/penstock-dev/penstock/test/redistest"
)

func TestOpenAsksAndCloses(t *testing.T) {
	t.Parallel()
	redis := redistest.Start(t)
	opened, err := store.Open(redisconn.Settings{Addresses: []string{redis.Addr()}})
	if err != nil {
		t.Fatal(err)
	}
	server, err := opened.Server(t.Context())
	if err != nil || server.Version == "" || server.RoundTrip <= 0 {
		t.Errorf("the server is %+v with error %v, want a version and a round trip", server, err)
	}
	if err := opened.Close(); err != nil {
		t.Error(err)
	}
	if _, err := opened.Server(t.Context()); err == nil {
		t.Error("a closed store answers")
	}
}

func TestOpenNamesWhatIsWrong(t *testing.T) {
	t.Parallel()
	if _, err := store.Open(redisconn.Settings{}); err == nil {
		t.Error("a store without an address was opened")
	}
}

func TestHeadAndLoadOfWhatStands(t *testing.T) {
	t.Parallel()
	redis := redistest.Start(t)
	s := store.New(redis.Client(t), "")
	for _, when := range []string{"nothing stands", "what stands is damaged"} {
		head, err := s.Head(t.Context(), "shop")
		if err != nil || head.Sequence != 0 {
			t.Errorf("head is %+v with error %v while %s, want none", head, err, when)
		}
		if err := redis.Client(t).HSet(t.Context(), "penstock:rules:shop", "sequence", "soon", "revision", "x").Err(); err != nil {
			t.Fatal(err)
		}
	}
}
