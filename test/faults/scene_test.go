// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package faults

import (
	"context"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/penstock-dev/penstock/internal/redisconn"
	"github.com/penstock-dev/penstock/internal/ruleset"
	"github.com/penstock-dev/penstock/test/redistest"
)

const (
	// patience bounds waits whose length is not a test's subject.
	patience = 20 * time.Second
	// settlePause is how often something awaited is looked at.
	settlePause = 5 * time.Millisecond
	// patient is the deadline where it is not the subject.
	patient = 2 * time.Second
)

// node is a sidecar of this process or of another.
type node interface {
	read() report
	isNormal(ctx context.Context) bool
	endLoad()
	// close returns what is left of the sidecar after it has ended.
	close() string
}

// lane is a sidecar and its way to the store.
type lane struct {
	mode    ruleset.OnStoreFailure
	tap     *tap
	network *network
	node    node
	// before and passed are what there was just before the fault.
	before report
	passed tapCounts
	normal time.Duration
}

// scene is a store and the sidecars that use it, one for each mode.
type scene struct {
	t      *testing.T
	fault  fault
	server *redistest.Server
	admin  *redis.Client
	lanes  []*lane
}

func newScene(t *testing.T, f fault) *scene {
	t.Helper()
	s := &scene{t: t, fault: f, server: redistest.Start(t, f.server...)}
	s.admin = s.server.Client(t)
	for _, mode := range modes {
		l := &lane{mode: mode}
		upstream := s.server.Addr()
		if f.badNetwork {
			l.network = startNetwork(t, upstream)
			upstream = l.network.proxy.Listen
		}
		l.tap = startTap(t, upstream)
		s.lanes = append(s.lanes, l)
	}
	return s
}

// settings are how sidecars connect, to their tap or directly.
func (s *scene) settings(addr string) redisconn.Settings {
	made := redisconn.Settings{Addresses: []string{addr}, OperationTimeout: s.fault.deadline, Username: s.fault.username}
	if s.fault.username != "" {
		made.Password = password
	}
	if s.fault.deadline == patient {
		made.DialTimeout = patience
	}
	return made
}

func (s *scene) start() {
	s.t.Helper()
	for _, l := range s.lanes {
		o := options{Settings: s.settings(l.tap.addr), Mode: l.mode}
		if s.fault.ownProcess {
			l.node = startWorker(s.t, o)
			continue
		}
		started, err := startSidecar(o)
		if err != nil {
			s.t.Fatal(err)
		}
		s.t.Cleanup(started.endLoad)
		s.t.Cleanup(started.redis.Close)
		l.node = started
	}
}

// eventually looks again and again until done, and fails the test when it is not
// within patience.
func (s *scene) eventually(what string, done func() bool) {
	s.t.Helper()
	ticker := time.NewTicker(settlePause)
	defer ticker.Stop()
	for deadline := time.Now().Add(patience); !done(); <-ticker.C {
		if time.Now().After(deadline) {
			for _, l := range s.lanes {
				s.t.Logf("%s: %+v, %+v", l.mode, l.node.read(), l.tap.read())
			}
			s.t.Fatalf("wait until %s: not after %v", what, patience)
		}
	}
}

// eachCounter says whether something holds for every counter of every sidecar.
func (s *scene) eachCounter(holds func(c counter, now, before counts) bool) bool {
	for _, l := range s.lanes {
		now := l.node.read()
		for _, c := range counters() {
			if !holds(c, now.Counters[c.name], l.before.Counters[c.name]) {
				return false
			}
		}
	}
	return true
}

// awaitWork returns once the store has decided a number of times on each counter
// since the fault began.
func (s *scene) awaitWork(what string, times int64) {
	s.t.Helper()
	s.eventually(what, func() bool {
		return s.eachCounter(func(_ counter, now, before counts) bool { return now.store()-before.store() >= times })
	})
}

// awaitQuiet returns when the store has decided everything for a moment: on a busy
// machine a deadline may pass without any fault. It remembers what there was.
func (s *scene) awaitQuiet() {
	s.t.Helper()
	s.remember()
	s.eventually("there is a quiet moment", func() bool {
		if !s.eachCounter(func(_ counter, now, before counts) bool {
			return now.Undecided+now.alone() == before.Undecided+before.alone()
		}) {
			s.remember()
		}
		return s.eachCounter(func(_ counter, now, before counts) bool { return now.store() >= before.store()+5 })
	})
	s.remember()
}

// awaitEffect returns once the fault has had its effect.
func (s *scene) awaitEffect() {
	s.t.Helper()
	switch s.fault.outcome {
	case gone:
		s.eventually("every sidecar decides alone, and more than its share", func() bool {
			return s.eachCounter(func(c counter, now, _ counts) bool { return now.alone() > c.share()+c.share()/4 })
		})
	case shaken:
		s.eventually("requests meet the fault", func() bool {
			return s.eachCounter(func(_ counter, now, before counts) bool {
				return now.store()+now.alone()-before.store()-before.alone() >= 40
			})
		})
	case unharmed:
		s.awaitWork("the store decides during the fault", 30)
	}
}

// awaitNormal measures how long it takes until the store decides again.
func (s *scene) awaitNormal() {
	s.t.Helper()
	began := time.Now()
	s.eventually("the store decides on everything again", func() bool {
		normal := true
		for _, l := range s.lanes {
			if l.normal == 0 && l.node.isNormal(s.t.Context()) {
				l.normal = time.Since(began)
			}
			normal = normal && l.normal > 0
		}
		return normal
	})
}

// remember keeps what there is before the fault.
func (s *scene) remember() {
	for _, l := range s.lanes {
		l.before, l.passed = l.node.read(), l.tap.read()
	}
}
