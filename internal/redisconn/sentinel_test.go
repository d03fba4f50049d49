// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package redisconn_test

import (
	"net"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/penstock-dev/penstock/internal/redisconn"
	"github.com/penstock-dev/penstock/test/redistest"
)

func set(t *testing.T, link *redisconn.Link) error {
	t.Helper()
	return link.Process(t.Context(), redis.NewStatusCmd(t.Context(), "set", "key", "value", "px", "60000"))
}

// TestLinksFollowAFailover wants links that lead to the new master, and no others,
// by a user that is no administrator.
func TestLinksFollowAFailover(t *testing.T) {
	t.Parallel()
	watched := redistest.StartSentinel(t)
	for _, server := range []*redistest.Server{watched.Master, watched.Replica} {
		if err := server.Client(t).ACLSetUser(t.Context(), "app", "on", ">secret", "~*", "+@all", "-@admin", "-@dangerous").Err(); err != nil {
			t.Fatal(err)
		}
	}
	_, links := keep(t, patient(redisconn.Settings{
		Mode: redisconn.Sentinel, Addresses: watched.Addrs(), MasterName: watched.MasterName(), Username: "app", Password: "secret",
	}))
	before := []*redisconn.Link{next(t, links), next(t, links)}
	watched.Failover(t)
	for _, link := range before {
		// What the limiter does on READONLY, where the server did not hang up itself.
		if err := set(t, link); err == nil {
			t.Error("a connection to the former master still writes")
		}
		link.Lose()
	}
	for range before {
		if err := set(t, next(t, links)); err != nil {
			t.Errorf("write over a new connection: %v", err)
		}
	}
}

// TestAReplicaIsRefused has a sentinel name a server that is no master, as one that
// has not heard of a failover does.
func TestAReplicaIsRefused(t *testing.T) {
	t.Parallel()
	master := redistest.Start(t)
	_, port, err := net.SplitHostPort(master.Addr())
	if err != nil {
		t.Fatal(err)
	}
	replica := redistest.Start(t, redistest.WithConfig("replicaof 127.0.0.1 "+port))
	watched := redistest.StartSentinel(t)
	settings := patient(redisconn.Settings{Mode: redisconn.Sentinel, Addresses: watched.Addrs(), MasterName: "stale"})
	host, port, err := net.SplitHostPort(replica.Addr())
	if err != nil {
		t.Fatal(err)
	}
	// The sentinels find out the truth in a while; till then they name the replica.
	for _, sentinel := range watched.Sentinels {
		if err := sentinel.Client(t).Do(t.Context(), "SENTINEL", "MONITOR", "stale", host, port, "2").Err(); err != nil {
			t.Fatal(err)
		}
	}
	keeper, _ := keep(t, settings)
	keeper.Await(t.Context())
	if err := keeper.Failure(); err == nil || !strings.Contains(err.Error(), "is a replica") {
		t.Errorf("connecting failed with %v, want that it is a replica", err)
	}
}

// TestASilentSentinelLeavesTimeForTheNext has the first sentinel accept and say
// nothing.
func TestASilentSentinelLeavesTimeForTheNext(t *testing.T) {
	t.Parallel()
	silent, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = silent.Close() })
	watched := redistest.StartSentinel(t)
	settings := redisconn.Settings{
		Mode: redisconn.Sentinel, MasterName: watched.MasterName(), DialTimeout: 4 * time.Second,
		Addresses: append([]string{silent.Addr().String()}, watched.Addrs()...),
	}
	keeper, links := keep(t, settings)
	if err := set(t, next(t, links)); err != nil {
		t.Errorf("write past a silent sentinel: %v; connecting failed with %v", err, keeper.Failure())
	}
}

func TestAnUnknownMasterIsNamed(t *testing.T) {
	t.Parallel()
	watched := redistest.StartSentinel(t)
	keeper, _ := keep(t, patient(redisconn.Settings{
		Mode: redisconn.Sentinel, Addresses: watched.Addrs(), MasterName: "other",
	}))
	keeper.Await(t.Context())
	if err := keeper.Failure(); err == nil || !strings.Contains(err.Error(), `knows none that is named "other"`) {
		t.Errorf("connecting failed with %v, want that the master is unknown", err)
	}
}
