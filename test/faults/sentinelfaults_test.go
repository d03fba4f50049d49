// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package faults

import (
	"net"

	"github.com/redis/go-redis/v9"

	"github.com/penstock-dev/penstock/internal/redisconn"
	"github.com/penstock-dev/penstock/test/redistest"
)

// watched is a store under sentinels, which know its servers by their taps.
type watched struct {
	sentinels []*redis.Client
	master    string
	// first and second are the ways to the master and to its replica.
	first, second *way
}

// watch starts a store under sentinels and has them go by the taps.
func (s *scene) watch() *watched {
	s.t.Helper()
	started := redistest.StartSentinel(s.t)
	w := &watched{master: started.MasterName(), first: s.lead(started.Master), second: s.lead(started.Replica)}
	for _, way := range []*way{w.first, w.second} {
		_, port, err := net.SplitHostPort(way.tap.addr)
		if err != nil {
			s.t.Fatal(err)
		}
		s.send(way.server.Client(s.t), "CONFIG", "SET", "repl-diskless-sync-delay", 0,
			"replica-announce-ip", "127.0.0.1", "replica-announce-port", port)
	}
	host, port, err := net.SplitHostPort(w.first.tap.addr)
	if err != nil {
		s.t.Fatal(err)
	}
	s.send(started.Replica.Client(s.t), "REPLICAOF", host, port)
	for _, sentinel := range started.Sentinels {
		client := sentinel.Client(s.t)
		w.sentinels = append(w.sentinels, client)
		s.send(client, "SENTINEL", "REMOVE", w.master)
		s.send(client, "SENTINEL", "MONITOR", w.master, host, port, 2)
		s.send(client, "SENTINEL", "SET", w.master, "down-after-milliseconds", 1000, "failover-timeout", 5000)
	}
	s.eventually("every sentinel knows the others, and the replica by its tap", func() bool {
		for _, sentinel := range w.sentinels {
			if !w.isWhole(s, sentinel) {
				return false
			}
		}
		return true
	})
	s.admin = started.Master.Client(s.t)
	s.base = redisconn.Settings{Mode: redisconn.Sentinel, Addresses: started.Addrs(), MasterName: w.master}
	return w
}

func (w *watched) isWhole(s *scene, sentinel *redis.Client) bool {
	others, err := sentinel.Do(s.t.Context(), "SENTINEL", "SENTINELS", w.master).Slice()
	if err != nil || len(others) != 2 {
		return false
	}
	replicas, err := sentinel.Do(s.t.Context(), "SENTINEL", "REPLICAS", w.master).Slice()
	if err != nil || len(replicas) != 1 {
		return false
	}
	replica, _ := replicas[0].(map[any]any)
	return replica["name"] == w.second.tap.addr && replica["master-link-status"] == "ok"
}

// isMaster says whether all sentinels name a server as the master.
func (w *watched) isMaster(s *scene, at *way) bool {
	for _, sentinel := range w.sentinels {
		named, err := sentinel.Do(s.t.Context(), "SENTINEL", "GET-MASTER-ADDR-BY-NAME", w.master).StringSlice()
		if err != nil || len(named) != 2 || net.JoinHostPort(named[0], named[1]) != at.tap.addr {
			return false
		}
	}
	return true
}

// send sends a command that must succeed.
func (s *scene) send(client *redis.Client, words ...any) {
	s.t.Helper()
	if err := client.Do(s.t.Context(), words...).Err(); err != nil {
		s.t.Fatalf("send %v: %v", words, err)
	}
}

func sentinelFaults() map[string]fault {
	return map[string]fault{
		// What was counted just before may not have reached the replica.
		"Sentinel failover": {
			store:  func(s *scene) { s.watched = s.watch() },
			losses: 1,
			begin: func(s *scene) {
				s.watched.first.server.Stop()
				s.watched.first.tap.down()
			},
			end: func(s *scene) {
				s.t.Helper()
				s.eventually("the replica is the master", func() bool { return s.watched.isMaster(s, s.watched.second) })
				s.admin = s.watched.second.server.Client(s.t)
			},
		},
	}
}
