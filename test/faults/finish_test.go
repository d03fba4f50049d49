// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package faults

import (
	"fmt"
	"strings"

	"github.com/redis/go-redis/v9"

	"github.com/penstock-dev/penstock/internal/keys"
	"github.com/penstock-dev/penstock/internal/limiter"
	"github.com/penstock-dev/penstock/internal/ruleset"
	"github.com/penstock-dev/penstock/test/redistest"
)

// mostConnections is how many connections a sidecar may have to one node.
const mostConnections = 3

// finish ends the load and checks what must hold after every fault.
func (s *scene) finish() {
	s.t.Helper()
	for _, l := range s.lanes {
		l.node.endLoad()
	}
	direct := s.connect()
	for _, l := range s.lanes {
		s.checkDecisions(l, l.node.read(), direct)
	}
	direct.Close()
	for _, l := range s.lanes {
		if left := l.node.close(); left != "" {
			s.t.Errorf("%s: goroutines are left:\n%s", l.mode, left)
		}
	}
	if len(s.admins) == 0 {
		s.admins = append(s.admins, s.admin)
	}
	found := 0
	for _, admin := range s.admins {
		found += s.checkServer(admin)
	}
	if found == 0 {
		s.t.Error("no key was found")
	}
}

// checkConnections is done before the test itself looks at what the store counts.
func (s *scene) checkConnections() {
	s.t.Helper()
	for _, l := range s.lanes {
		for _, w := range s.ways {
			if most := w.tap.read(namespaceOf(l.mode)).Most; most > mostConnections {
				s.t.Errorf("%s: %d connections at once, want at most %d", l.mode, most, mostConnections)
			}
		}
	}
}

// checkDecisions compares what callers were told with what is allowed and with
// what the store counted.
func (s *scene) checkDecisions(l *lane, told report, direct *limiter.Redis) {
	s.t.Helper()
	if told.Panics > 0 {
		s.t.Errorf("%s: %d requests panicked", l.mode, told.Panics)
	}
	for _, c := range counters() {
		got := told.Counters[c.name]
		if l.mode == ruleset.FailLocal && got.AloneAdmitted > c.share() {
			s.t.Errorf("%s, %s: %d admitted alone, want at most its share of %d", l.mode, c.name, got.AloneAdmitted, c.share())
		}
		if most := c.requests * (1 + s.fault.losses); got.StoreAdmitted > most {
			s.t.Errorf("%s, %s: the store admitted %d, want at most %d", l.mode, c.name, got.StoreAdmitted, most)
		}
		counted := s.counted(direct, l.mode, c)
		// Each request that the store did not answer may have been charged, once.
		if most := min(c.requests, got.StoreAdmitted+got.Undecided); counted > most {
			s.t.Errorf("%s, %s: the store counts %d, want at most %d: %+v", l.mode, c.name, counted, most, got)
		}
		if s.fault.losses == 0 && counted < got.StoreAdmitted {
			s.t.Errorf("%s, %s: the store counts %d, want at least %d: %+v", l.mode, c.name, counted, got.StoreAdmitted, got)
		}
	}
}

// counted is what the store counts for a counter.
func (s *scene) counted(direct *limiter.Redis, mode ruleset.OnStoreFailure, c counter) int64 {
	s.t.Helper()
	look := c.check(mode)
	look.Cost = 0
	decision, err := direct.Decide(s.t.Context(), namespaceOf(mode), []limiter.Check{look})
	if err != nil {
		s.t.Fatalf("look at %s: %v", c.name, err)
	}
	return c.requests - decision.Limits[0].Remaining
}

// checkServer looks for connections and for keys that live for ever, and returns how
// many keys there are.
func (s *scene) checkServer(admin *redis.Client) (found int) {
	s.t.Helper()
	s.eventually("the server has no connection of a sidecar", func() bool {
		list, err := admin.ClientList(s.t.Context()).Result()
		return err == nil && !strings.Contains(list, " name=penstock ")
	})
	return redistest.RequireExpiries(s.t, admin, fmt.Sprint(keys.DefaultPrefix, ":*"))
}
