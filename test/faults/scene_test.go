// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package faults

import (
	"context"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/penstock-dev/penstock/internal/limiter"
	"github.com/penstock-dev/penstock/internal/redisconn"
	"github.com/penstock-dev/penstock/internal/ruleset"
	"github.com/penstock-dev/penstock/test/redistest"
)

const (
	// patience bounds waits whose length is not a test's subject.
	patience = 30 * time.Second
	// settlePause is how often something awaited is looked at.
	settlePause = 5 * time.Millisecond
	// patient is the deadline where it is not the subject.
	patient = 10 * time.Second
)

// node is a sidecar of this process or of another.
type node interface {
	read() report
	isNormal(ctx context.Context) bool
	endLoad()
	// close returns what is left of the sidecar after it has ended.
	close() string
}

// way leads to one server of the store, for all sidecars.
type way struct {
	server  *redistest.Server
	tap     *tap
	network *network
}

// lane is a sidecar in a scene.
type lane struct {
	mode ruleset.OnStoreFailure
	node node
	// worker is the node if it has a process of its own.
	worker *worker
	// before and failed are what there was just before the fault.
	before report
	failed int64
	normal time.Duration
}

// scene is a store and the sidecars that use it, one for each mode.
type scene struct {
	t     *testing.T
	fault fault
	// ways lead to the servers of the store, and base is how sidecars connect.
	ways  []*way
	base  redisconn.Settings
	lanes []*lane
	// suffering are the counters that the fault is for.
	suffering map[string]bool
	// admin is a client of the server that counts at present, and admins are those of
	// all nodes of a cluster.
	admin  *redis.Client
	admins []*redis.Client
	// watched and clustered are the store, where it is under sentinels or a cluster.
	watched   *watched
	clustered *clustered
	// clock is that of the store, where it steps.
	clock clock
	// variables are in the store's environment, and rewrite is for its taps.
	variables []string
	rewrite   func([]string) []string
}

func newScene(t *testing.T, f fault) *scene {
	t.Helper()
	s := &scene{t: t, fault: f}
	if f.store == nil {
		f.store = oneServer
	}
	f.store(s)
	s.suffering = make(map[string]bool)
	for _, c := range counters() {
		s.suffering[c.name] = f.suffers == nil || f.suffers(s, c)
	}
	for _, mode := range modes {
		s.lanes = append(s.lanes, &lane{mode: mode})
	}
	return s
}

// oneServer is a store of one server.
func oneServer(s *scene) {
	s.t.Helper()
	if s.fault.stepsClock {
		s.clock = s.newClock()
	}
	server := redistest.Start(s.t, append(s.fault.server, redistest.WithEnvironment(s.variables...))...)
	s.admin = server.Client(s.t)
	w := s.lead(server)
	s.base = redisconn.Settings{Addresses: []string{w.tap.addr}}
	if s.fault.username != "" {
		s.base.Username, s.base.Password = s.fault.username, password
	}
}

// lead makes a way to a server.
func (s *scene) lead(server *redistest.Server) *way {
	s.t.Helper()
	w := &way{server: server}
	upstream := server.Addr()
	if s.fault.badNetwork {
		w.network = startNetwork(s.t, upstream)
		upstream = w.network.proxy.Listen
	}
	w.tap = startTap(s.t, upstream)
	w.tap.rewrite = s.rewrite
	s.ways = append(s.ways, w)
	return w
}

// failedCalls is how many script calls of a sidecar failed, probes apart.
func (s *scene) failedCalls(l *lane) (failed int64) {
	for _, w := range s.ways {
		failed += w.tap.read(namespaceOf(l.mode)).Failed
	}
	return failed
}

// settings are how sidecars connect.
func (s *scene) settings() redisconn.Settings {
	made := s.base
	made.OperationTimeout = s.fault.deadline
	if s.fault.deadline == patient {
		made.DialTimeout = patience
	}
	return made
}

// connect returns a limiter that has all the time in the world. The caller closes it.
func (s *scene) connect() *limiter.Redis {
	s.t.Helper()
	made := s.base
	made.OperationTimeout, made.DialTimeout = patience, patience
	connected, err := limiter.Connect(made)
	if err != nil {
		s.t.Fatal(err)
	}
	connected.Await(s.t.Context())
	return connected
}

func (s *scene) start() {
	s.t.Helper()
	for _, l := range s.lanes {
		o := options{Settings: s.settings(), Mode: l.mode}
		if s.fault.ownProcess {
			l.worker = startWorker(s.t, o)
			l.node = l.worker
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
				s.t.Logf("%s: %+v, %+v", l.mode, l.node.read(), s.ways[0].tap.read(namespaceOf(l.mode)))
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
			return s.eachCounter(func(c counter, now, before counts) bool {
				if !s.suffering[c.name] {
					return now.store()-before.store() >= 30
				}
				return now.alone()-before.alone() > c.share()+c.share()/4
			})
		})
	case shaken:
		s.eventually("requests meet the fault", func() bool {
			return s.eachCounter(func(_ counter, now, before counts) bool {
				return now.store()+now.alone()-before.store()-before.alone() >= 20
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
		l.before, l.failed = l.node.read(), s.failedCalls(l)
	}
}
