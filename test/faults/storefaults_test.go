// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package faults

import (
	"github.com/penstock-dev/penstock/test/redistest"
)

// username and password are those of the sidecars where the store has users.
const (
	username = "app"
	password = "secret"
)

// do has the administrator send a command to the store.
func (s *scene) do(words ...any) {
	s.t.Helper()
	s.send(s.admin, words...)
}

func sending(words ...any) func(*scene) {
	return func(s *scene) { s.do(words...) }
}

func nothing(*scene) {}

// only is the one server of a standalone store.
func (s *scene) only() *redistest.Server { return s.ways[0].server }

func vanish(s *scene) {
	s.only().Stop()
	s.ways[0].tap.down()
}

func reappear(s *scene) {
	s.t.Helper()
	s.only().Restart()
	s.ways[0].tap.up(s.t)
}

// storeFaults are what may happen to a store of one node.
func storeFaults() map[string]fault {
	return map[string]fault{
		"SIGSTOP, SIGCONT": {
			begin: func(s *scene) { s.only().Pause() }, end: func(s *scene) { s.only().Resume() },
		},
		"connection refused":    {begin: vanish, end: reappear, losses: 1},
		"Redis absent at start": {begin: vanish, end: reappear, fromStart: true},
		"restart": {
			begin: func(s *scene) { s.only().Restart() }, end: nothing, outcome: shaken, losses: 1,
		},
		"SCRIPT FLUSH": {begin: sending("SCRIPT", "FLUSH"), end: nothing, outcome: unharmed, deadline: patient},
		"FLUSHALL":     {begin: sending("FLUSHALL"), end: nothing, outcome: unharmed, deadline: patient, losses: 1},
		"CLIENT PAUSE": {begin: sending("CLIENT", "PAUSE", patience.Milliseconds(), "WRITE"), end: sending("CLIENT", "UNPAUSE")},
		"maxmemory reached": {
			server: []redistest.Option{redistest.WithConfig("maxmemory-policy noeviction")},
			begin:  sending("CONFIG", "SET", "maxmemory", "1"), end: sending("CONFIG", "SET", "maxmemory", "0"),
		},
		// A replica of a port where nobody listens: what a failover leaves behind.
		"primary turned replica": {begin: sending("REPLICAOF", "127.0.0.1", "1"), end: sending("REPLICAOF", "NO", "ONE")},
		"wrong password": {
			server:   []redistest.Option{redistest.WithUsers(username + " on >" + password + " ~* +@all")},
			username: username,
			begin: func(s *scene) {
				s.t.Helper()
				s.do("ACL", "SETUSER", username, "resetpass", ">changed")
				s.do("CLIENT", "KILL", "USER", username)
			},
			end: sending("ACL", "SETUSER", username, "resetpass", ">"+password),
		},
	}
}
