// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package redistest

import (
	"context"
	"fmt"
	"net"
	"slices"
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
// ends. It returns once every sentinel knows all the others. The options are for
// the sentinels.
func StartSentinel(tb testing.TB, options ...Option) *Sentinel {
	tb.Helper()
	s := &Sentinel{Master: Start(tb)}
	port := strconv.Itoa(s.Master.port)
	s.Replica = Start(tb, WithConfig("replicaof 127.0.0.1 "+port))
	for range 3 {
		watching := WithConfig(
			"sentinel monitor "+masterName+" 127.0.0.1 "+port+" 2",
			"sentinel down-after-milliseconds "+masterName+" 1000",
			"sentinel failover-timeout "+masterName+" 5000")
		s.Sentinels = append(s.Sentinels, Start(tb, slices.Concat([]Option{asSentinel, watching}, options)...))
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

// Failover has the replica become the master and the master its replica, as for
// maintenance, and returns once all sentinels name the new master and the old one
// follows it. Master and Replica are exchanged with it.
func (s *Sentinel) Failover(tb testing.TB) {
	tb.Helper()
	first := s.Sentinels[0].Client(tb)
	eventually(tb, "a failover begins", func(ctx context.Context) error {
		return first.Do(ctx, "SENTINEL", "FAILOVER", masterName).Err()
	})
	s.AwaitMaster(tb, s.Replica)
	s.Master, s.Replica = s.Replica, s.Master
	former := s.Replica.Client(tb)
	eventually(tb, "the former master is a replica", func(ctx context.Context) error {
		role, err := former.Do(ctx, "ROLE").Slice()
		if err == nil && role[0] != "slave" {
			err = fmt.Errorf("its role is %v", role[0])
		}
		return err
	})
}

// AwaitMaster returns once all sentinels name the server as the master.
func (s *Sentinel) AwaitMaster(tb testing.TB, server *Server) {
	tb.Helper()
	for _, sentinel := range s.Sentinels {
		client := sentinel.Client(tb)
		eventually(tb, "a sentinel names the new master", func(ctx context.Context) error {
			address, err := client.Do(ctx, "SENTINEL", "GET-MASTER-ADDR-BY-NAME", masterName).StringSlice()
			if err != nil {
				return fmt.Errorf("ask a sentinel for its master: %w", err)
			}
			if named := net.JoinHostPort(address[0], address[1]); named != server.Addr() {
				return fmt.Errorf("it names %s, want %s", named, server.Addr())
			}
			return nil
		})
	}
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
