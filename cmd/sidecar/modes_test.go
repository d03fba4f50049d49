// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"net/http"
	"testing"
	"time"

	"github.com/penstock-dev/penstock/internal/redisconn"
	"github.com/penstock-dev/penstock/internal/store"
	"github.com/penstock-dev/penstock/test/redistest"
)

// generous has the settings of a test decide in the store, however busy the
// machine is.
func generous(settings redisconn.Settings) redisconn.Settings {
	settings.OperationTimeout, settings.DialTimeout = 2*time.Second, 2*time.Second
	return settings
}

// openedStore is the store behind settings, for an operator.
func openedStore(t *testing.T, settings redisconn.Settings) *store.Store {
	t.Helper()
	opened, err := store.Open(settings)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = opened.Close() })
	return opened
}

// allow makes the user that config/samples/store.yaml makes for sidecars.
func allow(t *testing.T, server *redistest.Server) {
	t.Helper()
	err := server.Client(t).ACLSetUser(t.Context(), "penstock-sidecar", "on", ">secret",
		"~penstock:*", "&penstock:*", "+@all", "-@admin", "-@dangerous").Err()
	if err != nil {
		t.Fatal(err)
	}
}

// TestSidecarUsesEveryKindOfStore reads rules, decides and acknowledges.
func TestSidecarUsesEveryKindOfStore(t *testing.T) {
	t.Parallel()
	tests := map[string]func(*testing.T) redisconn.Settings{
		"client certificate": func(t *testing.T) redisconn.Settings {
			server := redistest.Start(t, redistest.WithClientCertificates())
			certificate, key := server.ClientCertificate(t, "sidecar")
			return redisconn.Settings{
				Addresses: []string{server.Addr()},
				TLS:       &redisconn.TLS{CA: server.CA(), ServerName: server.ServerName(), Certificate: certificate, Key: key},
			}
		},
		"Cluster": func(t *testing.T) redisconn.Settings {
			cluster := redistest.StartCluster(t)
			for _, node := range cluster.Nodes {
				allow(t, node)
			}
			return redisconn.Settings{
				Mode: redisconn.Cluster, Addresses: cluster.Addrs()[:2], Username: "penstock-sidecar", Password: "secret",
			}
		},
		"Sentinel": func(t *testing.T) redisconn.Settings {
			return sentinelSettings(redistest.StartSentinel(t, redistest.WithPassword("watchword")))
		},
	}
	for name, settingsFor := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			settings := generous(settingsFor(t))
			operator := settings
			operator.Username, operator.Password = "", ""
			rules := openedStore(t, operator)
			first := publish(t, rules, limited(2))
			p := newPod(t).mount(t, settings).start(t)
			p.awaitAck(t, rules, ofSequence(first.Sequence))
			expectStatuses(t, p, 3, map[int]int{200: 2, 429: 1})
			if failures := p.metric(t, "penstock_store_errors_total"); failures != 0 {
				t.Errorf("%v decisions failed", failures)
			}
		})
	}
}

func sentinelSettings(watched *redistest.Sentinel) redisconn.Settings {
	return redisconn.Settings{
		Mode: redisconn.Sentinel, Addresses: watched.Addrs(), MasterName: watched.MasterName(), SentinelPassword: "watchword",
	}
}

// TestSidecarFollowsAFailover kills the master. The new one has what was replicated.
func TestSidecarFollowsAFailover(t *testing.T) {
	t.Parallel()
	watched := redistest.StartSentinel(t, redistest.WithPassword("watchword"))
	settings := generous(sentinelSettings(watched))
	settings.OperationTimeout = redisconn.DefaultOperationTimeout
	rules := openedStore(t, settings)
	first := publish(t, rules, limited(1000))
	p := newPod(t).mount(t, settings).start(t)
	p.awaitAck(t, rules, ofSequence(first.Sequence))
	watched.Master.Stop()
	watched.AwaitMaster(t, watched.Replica)
	allowed := func() float64 {
		return p.metric(t, "penstock_decisions_total", `outcome="allowed"`)
	}
	before := allowed()
	eventually(t, func() error {
		if status := p.get(t).StatusCode; status != http.StatusOK {
			t.Errorf("status %d during a failover, want 200", status)
		}
		if allowed() == before {
			return fmt.Errorf("the store decides nothing after the failover")
		}
		return nil
	})
}
