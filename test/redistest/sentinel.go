// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package redistest

import (
	"context"
	"fmt"
	"strconv"
	"testing"
	"time"
)

// gatherTimeout bounds how long servers may take to know one another.
const gatherTimeout = 30 * time.Second

const masterName = "penstock"

// Sentinel is a master with one replica, watched by three sentinels.
type Sentinel struct {
	Master, Replica *Server
	Sentinels       []*Server
}

// StartSentinel runs a master, a replica and three sentinels until the test
// ends. It returns once every sentinel knows all the others.
func StartSentinel(tb testing.TB) *Sentinel {
	tb.Helper()
	s := &Sentinel{Master: Start(tb)}
	port := strconv.Itoa(s.Master.port)
	s.Replica = Start(tb, WithConfig("replicaof 127.0.0.1 "+port))
	for range 3 {
		s.Sentinels = append(s.Sentinels, Start(tb, asSentinel, WithConfig(
			"sentinel monitor "+masterName+" 127.0.0.1 "+port+" 2",
			"sentinel down-after-milliseconds "+masterName+" 1000",
			"sentinel failover-timeout "+masterName+" 5000")))
	}
	for _, sentinel := range s.Sentinels {
		client := sentinel.Client(tb)
		eventually(tb, "sentinels know one another", func(ctx context.Context) error {
			state, err := client.Do(ctx, "SENTINEL", "MASTER", masterName).Result()
			if err != nil {
				return fmt.Errorf("ask a sentinel for its master: %w", err)
			}
			fields, ok := state.(map[any]any)
			if !ok || fields["num-other-sentinels"] != "2" || fields["num-slaves"] != "1" {
				return fmt.Errorf("incomplete: %v", state)
			}
			return nil
		})
	}
	return s
}

func asSentinel(s *Server) {
	s.arguments, s.ready = []string{"--sentinel"}, "+monitor master"
}

// MasterName is the name under which the sentinels watch the master.
func (s *Sentinel) MasterName() string { return masterName }

// Addrs are the addresses of the sentinels.
func (s *Sentinel) Addrs() []string { return addresses(s.Sentinels) }

func addresses(servers []*Server) []string {
	found := make([]string, 0, len(servers))
	for _, server := range servers {
		found = append(found, server.Addr())
	}
	return found
}

// eventually asks again every few milliseconds until check returns no error, and
// fails the test when it still does after gatherTimeout.
func eventually(tb testing.TB, what string, check func(context.Context) error) {
	tb.Helper()
	ctx, cancel := context.WithTimeout(tb.Context(), gatherTimeout)
	defer cancel()
	ticker := time.NewTicker(20 * time.Millisecond)
	defer ticker.Stop()
	for {
		err := check(ctx)
		if err == nil {
			return
		}
		select {
		case <-ctx.Done():
			tb.Fatalf("wait until %s: not after %v: %v", what, gatherTimeout, err)
		case <-ticker.C:
		}
	}
}
