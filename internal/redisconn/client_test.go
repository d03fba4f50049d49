// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package redisconn_test

import (
	"context"
	"errors"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/penstock-dev/penstock/internal/redisconn"
	"github.com/penstock-dev/penstock/test/redistest"
)

func connect(t *testing.T, settings redisconn.Settings, purpose redisconn.Purpose) redis.UniversalClient {
	t.Helper()
	client, err := redisconn.New(settings, purpose)
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
		"user":           {settings: redisconn.Settings{Addresses: []string{users.Addr()}, Username: "app", Password: "secret"}},
		"wrong password": {settings: redisconn.Settings{Addresses: []string{users.Addr()}, Username: "app", Password: "guess"}, wantErr: "WRONGPASS"},
	}
	for name, tc := range tests {
		for purpose, label := range map[redisconn.Purpose]string{redisconn.Deciding: "deciding", redisconn.Publishing: "publishing"} {
			t.Run(name+"/"+label, func(t *testing.T) {
				t.Parallel()
				err := connect(t, patient(tc.settings), purpose).Set(t.Context(), "key", "value", time.Minute).Err()
				if (err == nil) != (tc.wantErr == "") || (err != nil && !strings.Contains(err.Error(), tc.wantErr)) {
					t.Errorf("set: %v, want an error with %q", err, tc.wantErr)
				}
			})
		}
	}
}

func TestConnectionsAreNamed(t *testing.T) {
	t.Parallel()
	server := redistest.Start(t)
	client := connect(t, patient(redisconn.Settings{Addresses: []string{server.Addr()}}), redisconn.Deciding)
	name, err := client.ClientGetName(t.Context()).Result()
	if err != nil || name != "penstock" {
		t.Errorf("client name %q, %v, want penstock", name, err)
	}
}

func TestDecidingClientObeysTheDeadlineOfASilentServer(t *testing.T) {
	t.Parallel()
	// It accepts connections and never says a word: a black hole behind a
	// working network, where only our own deadlines end a wait.
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = listener.Close() })
	client := connect(t, redisconn.Settings{Addresses: []string{listener.Addr().String()}}, redisconn.Deciding)
	ctx, cancel := context.WithTimeout(t.Context(), redisconn.DefaultOperationTimeout)
	defer cancel()
	began := time.Now()
	err = client.Ping(ctx).Err()
	var timeout net.Error
	if took := time.Since(began); !errors.As(err, &timeout) || !timeout.Timeout() || took > time.Second {
		t.Errorf("ping ended after %v with %v, want a timeout", took, err)
	}
}

func TestOnlyPublishingClientsRetry(t *testing.T) {
	t.Parallel()
	server := redistest.Start(t)
	settings := patient(redisconn.Settings{Addresses: []string{server.Addr()}})
	for purpose, wantRetries := range map[redisconn.Purpose]int{redisconn.Deciding: 0, redisconn.Publishing: 3} {
		client, ok := connect(t, settings, purpose).(*redis.Client)
		if !ok || client.Options().MaxRetries != wantRetries || !client.Options().ContextTimeoutEnabled {
			t.Errorf("purpose %d: options %+v, want %d retries and context timeouts", purpose, client.Options(), wantRetries)
		}
	}
}
