// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package redistest

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
)

func TestStartServesAndRestartsEmpty(t *testing.T) {
	t.Parallel()
	server := Start(t)
	client := server.Client(t)
	if err := client.Set(t.Context(), "key", "value", time.Minute).Err(); err != nil {
		t.Fatal(err)
	}
	before := server.Addr()
	server.Restart()
	if server.Addr() != before {
		t.Errorf("after a restart the address is %s, want %s", server.Addr(), before)
	}
	if err := server.Client(t).Get(t.Context(), "key").Err(); !errors.Is(err, redis.Nil) {
		t.Errorf("get after a restart: error %v, want redis.Nil", err)
	}
	server.Stop()
	if connection, err := net.Dial("tcp", server.Addr()); err == nil {
		connection.Close()
		t.Error("a stopped server still accepts connections")
	}
}

func TestPauseHangsAndResumeAnswers(t *testing.T) {
	t.Parallel()
	server := Start(t)
	client := server.Client(t)
	server.Pause()
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if err := client.Ping(ctx).Err(); err == nil {
		t.Error("a paused server answered")
	}
	server.Resume()
	if err := client.Ping(t.Context()).Err(); err != nil {
		t.Errorf("after resume: %v", err)
	}
}

func TestTLSVerifiesTheServer(t *testing.T) {
	t.Parallel()
	server := Start(t, WithTLS())
	if err := server.Client(t).Ping(t.Context()).Err(); err != nil {
		t.Errorf("ping over TLS: %v", err)
	}
	if !strings.Contains(string(server.CA()), "BEGIN CERTIFICATE") {
		t.Errorf("CA is %q, want a PEM certificate", server.CA())
	}
	plain := redis.NewClient(&redis.Options{Addr: server.Addr(), MaxRetries: -1})
	defer plain.Close()
	if err := plain.Ping(t.Context()).Err(); err == nil {
		t.Error("a client without TLS got an answer")
	}
}

func TestClientCertificatesAreAskedFor(t *testing.T) {
	t.Parallel()
	server := Start(t, WithClientCertificates())
	if err := server.Client(t).Ping(t.Context()).Err(); err != nil {
		t.Errorf("ping with a certificate: %v", err)
	}
	pool := x509.NewCertPool()
	pool.AppendCertsFromPEM(server.CA())
	bare := redis.NewClient(&redis.Options{
		Addr: server.Addr(), MaxRetries: -1,
		TLSConfig: &tls.Config{RootCAs: pool, ServerName: server.ServerName()},
	})
	defer bare.Close()
	if err := bare.Ping(t.Context()).Err(); err == nil {
		t.Error("a client without a certificate got an answer")
	}
}

func TestSocketServes(t *testing.T) {
	t.Parallel()
	server := Start(t, WithSocket(), WithPassword("secret"))
	client := redis.NewClient(&redis.Options{Network: "unix", Addr: server.Socket(), Password: "secret"})
	defer client.Close()
	if err := client.Ping(t.Context()).Err(); err != nil {
		t.Errorf("ping through the socket: %v", err)
	}
	if err := server.Client(t).Ping(t.Context()).Err(); err != nil {
		t.Errorf("ping with the password: %v", err)
	}
}

func TestUsersHaveTheirOwnRights(t *testing.T) {
	t.Parallel()
	server := Start(t, WithUsers("app on >secret ~own:* +@all"))
	app := server.ClientAs(t, "app", "secret")
	if err := app.Set(t.Context(), "own:key", "1", time.Minute).Err(); err != nil {
		t.Errorf("write an own key: %v", err)
	}
	if err := app.Set(t.Context(), "other", "1", time.Minute).Err(); err == nil || !strings.HasPrefix(err.Error(), "NOPERM") {
		t.Errorf("write another key: error %v, want NOPERM", err)
	}
	if err := server.ClientAs(t, "app", "wrong").Ping(t.Context()).Err(); err == nil || !strings.HasPrefix(err.Error(), "WRONGPASS") {
		t.Errorf("wrong password: error %v, want WRONGPASS", err)
	}
}

func TestSentinelNamesTheMaster(t *testing.T) {
	t.Parallel()
	watched := StartSentinel(t)
	client := redis.NewFailoverClient(&redis.FailoverOptions{MasterName: watched.MasterName(), SentinelAddrs: watched.Addrs()})
	defer client.Close()
	if err := client.Set(t.Context(), "key", "value", time.Minute).Err(); err != nil {
		t.Fatal(err)
	}
	got, err := watched.Master.Client(t).Get(t.Context(), "key").Result()
	if err != nil || got != "value" {
		t.Errorf("the master holds %q, %v, want what was written through the sentinels", got, err)
	}
}

func TestFailoverExchangesMasterAndReplica(t *testing.T) {
	t.Parallel()
	watched := StartSentinel(t, WithPassword("sentinel"))
	before := watched.Master
	watched.Failover(t)
	if watched.Replica != before {
		t.Error("the old master is not the replica")
	}
	if err := watched.Master.Client(t).Set(t.Context(), "key", "value", time.Minute).Err(); err != nil {
		t.Errorf("write to the new master: %v", err)
	}
}

func TestClusterServesAllSlots(t *testing.T) {
	t.Parallel()
	cluster := StartCluster(t)
	client := redis.NewClusterClient(&redis.ClusterOptions{Addrs: cluster.Addrs()})
	defer client.Close()
	for _, key := range []string{"a", "b", "c", "d", "e", "f", "g", "h"} {
		if err := client.Set(t.Context(), key, key, time.Minute).Err(); err != nil {
			t.Errorf("set %q: %v", key, err)
		}
	}
}

func TestAMigrationMovesASlotWithItsKeys(t *testing.T) {
	t.Parallel()
	cluster := StartCluster(t)
	const slot = 12182 // of the key foo
	from, to := cluster.NodeOf(slot), cluster.Nodes[0]
	if err := from.Client(t).Set(t.Context(), "foo", "bar", time.Minute).Err(); err != nil {
		t.Fatal(err)
	}
	migration := cluster.Begin(t, slot, from, to)
	if err := from.Client(t).Get(t.Context(), "{foo}new").Err(); err == nil || !strings.HasPrefix(err.Error(), "ASK") {
		t.Errorf("a key that the source does not have: %v, want ASK", err)
	}
	for migration.MoveKeys(t) {
	}
	migration.End(t)
	if got, err := to.Client(t).Get(t.Context(), "foo").Result(); err != nil || got != "bar" {
		t.Errorf("the target has %q, %v, want the key", got, err)
	}
	if err := from.Client(t).Get(t.Context(), "foo").Err(); err == nil || !strings.HasPrefix(err.Error(), "MOVED") {
		t.Errorf("the source: %v, want MOVED", err)
	}
}

func TestCheckVersionRefusesOldServers(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		output  string
		wantErr string
	}{
		"seven":   {output: "Redis server v=7.0.15 sha=0"},
		"newer":   {output: "Redis server v=12.1.0 sha=0"},
		"six":     {output: "Redis server v=6.2.1 sha=0", wantErr: "apt-get install redis-server"},
		"unknown": {output: "hello", wantErr: "REDIS_SERVER"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			err := checkVersion("redis-server", tc.output)
			if (err == nil) != (tc.wantErr == "") || (err != nil && !strings.Contains(err.Error(), tc.wantErr)) {
				t.Errorf("checkVersion(%q) = %v, want an error with %q", tc.output, err, tc.wantErr)
			}
		})
	}
}
