// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package redisconn_test

import (
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/penstock-dev/penstock/internal/keys"
	"github.com/penstock-dev/penstock/internal/redisconn"
	"github.com/penstock-dev/penstock/test/redistest"
)

func connect(t *testing.T, settings redisconn.Settings) redis.UniversalClient {
	t.Helper()
	client, err := redisconn.New(settings)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = client.Close() })
	return client
}

// patient keeps tests on busy machines from running into the short deadlines
// that are not their subject.
func patient(s redisconn.Settings) redisconn.Settings {
	s.OperationTimeout, s.DialTimeout = 5*time.Second, 5*time.Second
	return s
}

func TestClientsConnect(t *testing.T) {
	t.Parallel()
	plain := redistest.Start(t)
	secured := redistest.Start(t, redistest.WithTLS())
	users := redistest.Start(t, redistest.WithUsers("app on >secret ~* +@all"))
	asking := redistest.Start(t, redistest.WithClientCertificates())
	certificate, key := asking.ClientCertificate(t, "app")
	cluster := redistest.StartCluster(t)
	local := redistest.Start(t, redistest.WithSocket())
	// The least that a user of the sentinels needs, as docs/operating.md says.
	watched := redistest.StartSentinel(t, redistest.WithPassword("watchword"), redistest.WithUsers("watch on >word &* "+
		"+hello +auth +ping +client|setname +subscribe +sentinel|get-master-addr-by-name +sentinel|sentinels"))
	sentinels := redisconn.Settings{
		Mode: redisconn.Sentinel, Addresses: watched.Addrs(), MasterName: watched.MasterName(), SentinelPassword: "watchword",
	}
	tests := map[string]struct {
		settings redisconn.Settings
		wantErr  string
	}{
		"plain":          {settings: redisconn.Settings{Addresses: []string{plain.Addr()}}},
		"database":       {settings: redisconn.Settings{Addresses: []string{plain.Addr()}, Database: 5}},
		"no database 99": {settings: redisconn.Settings{Addresses: []string{plain.Addr()}, Database: 99}, wantErr: "DB index"},
		"TLS": {settings: redisconn.Settings{
			Addresses: []string{secured.Addr()},
			TLS:       &redisconn.TLS{CA: secured.CA(), ServerName: secured.ServerName()},
		}},
		"TLS, another name": {settings: redisconn.Settings{
			Addresses: []string{secured.Addr()},
			TLS:       &redisconn.TLS{CA: secured.CA(), ServerName: "other.test"},
		}, wantErr: "other.test"},
		"TLS, unknown CA": {settings: redisconn.Settings{
			Addresses: []string{secured.Addr()},
			TLS:       &redisconn.TLS{ServerName: secured.ServerName()},
		}, wantErr: "certificate"},
		"user": {settings: redisconn.Settings{Addresses: []string{users.Addr()}, Username: "app", Password: "secret"}},
		"client certificate": {settings: redisconn.Settings{
			Addresses: []string{asking.Addr()},
			TLS:       &redisconn.TLS{CA: asking.CA(), ServerName: asking.ServerName(), Certificate: certificate, Key: key},
		}},
		"Unix socket": {settings: redisconn.Settings{Addresses: []string{local.Socket()}, Database: 1}},
		"Sentinel":    {settings: sentinels},
		"Cluster": {settings: redisconn.Settings{
			Mode: redisconn.Cluster, Addresses: []string{cluster.NodeOf(keys.Slot("key")).Addr()},
		}},
		"Sentinel, wrong password": {
			settings: change(sentinels, func(s *redisconn.Settings) { s.SentinelPassword = "guess" }), wantErr: "WRONGPASS",
		},
		"Sentinel, user": {settings: change(sentinels, func(s *redisconn.Settings) {
			s.SentinelUsername, s.SentinelPassword = "watch", "word"
		})},
		"Sentinel, first one gone": {
			settings: change(sentinels, func(s *redisconn.Settings) { s.Addresses = append([]string{"127.0.0.1:1"}, s.Addresses...) }),
		},
		"wrong password": {settings: redisconn.Settings{Addresses: []string{users.Addr()}, Username: "app", Password: "guess"}, wantErr: "WRONGPASS"},
	}
	for name, tc := range tests {
		for label, set := range map[string]func(*testing.T, redisconn.Settings) error{"deciding": setByLink, "publishing": setByClient} {
			t.Run(name+"/"+label, func(t *testing.T) {
				t.Parallel()
				err := set(t, patient(tc.settings))
				if (err == nil) != (tc.wantErr == "") || (err != nil && !strings.Contains(err.Error(), tc.wantErr)) {
					t.Errorf("set: %v, want an error with %q", err, tc.wantErr)
				}
			})
		}
	}
}

// change returns changed settings.
func change(settings redisconn.Settings, by func(*redisconn.Settings)) redisconn.Settings {
	by(&settings)
	return settings
}

func setByClient(t *testing.T, settings redisconn.Settings) error {
	t.Helper()
	return connect(t, settings).Set(t.Context(), "key", "value", time.Minute).Err()
}

func setByLink(t *testing.T, settings redisconn.Settings) error {
	t.Helper()
	keeper, links := keep(t, settings)
	keeper.Await(t.Context())
	select {
	case link := <-links:
		return link.Process(t.Context(), redis.NewStatusCmd(t.Context(), "set", "key", "value", "px", "60000"))
	default:
		return keeper.Failure()
	}
}

// keep keeps two links open and tells of each.
func keep(t *testing.T, settings redisconn.Settings) (*redisconn.Keeper, <-chan *redisconn.Link) {
	t.Helper()
	options, err := redisconn.DecidingOptions(settings)
	if err != nil {
		t.Fatal(err)
	}
	links := make(chan *redisconn.Link, 100)
	keeper := redisconn.Keep(options, 2, func(link *redisconn.Link) { links <- link })
	t.Cleanup(keeper.Close)
	return keeper, links
}

// TestAClientCertificateIsNeeded wants whatever error comes first: the server says
// what it misses while it hangs up.
func TestAClientCertificateIsNeeded(t *testing.T) {
	t.Parallel()
	asking := redistest.Start(t, redistest.WithClientCertificates())
	settings := patient(redisconn.Settings{
		Addresses: []string{asking.Addr()}, TLS: &redisconn.TLS{CA: asking.CA(), ServerName: asking.ServerName()},
	})
	if setByClient(t, settings) == nil || setByLink(t, settings) == nil {
		t.Error("a client without a certificate got an answer")
	}
}

func TestConnectionsAreNamed(t *testing.T) {
	t.Parallel()
	server := redistest.Start(t)
	_, links := keep(t, patient(redisconn.Settings{Addresses: []string{server.Addr()}}))
	command := redis.NewStringCmd(t.Context(), "client", "getname")
	err := next(t, links).Process(t.Context(), command)
	name := command.Val()
	if err != nil || name != "penstock" {
		t.Errorf("client name %q, %v, want penstock", name, err)
	}
}

func TestOnlyPublishingRetries(t *testing.T) {
	t.Parallel()
	client, ok := connect(t, redisconn.Settings{Addresses: []string{"127.0.0.1:1"}}).(*redis.Client)
	if !ok || client.Options().MaxRetries != 3 || !client.Options().ContextTimeoutEnabled {
		t.Errorf("options %+v, want three retries and the contexts' timeouts", client.Options())
	}
}
