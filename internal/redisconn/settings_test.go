// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package redisconn

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestValidateNamesTheField(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		change func(*Settings)
		want   string
	}{
		"valid":       {change: func(*Settings) {}},
		"IPv6":        {change: func(s *Settings) { s.Addresses = []string{"[::1]:6379"} }},
		"mode":        {change: func(s *Settings) { s.Mode = "Ring" }, want: "mode: "},
		"Unix socket": {change: func(s *Settings) { s.Addresses = []string{"/run/redis.sock"} }},
		"cluster":     {change: func(s *Settings) { s.Mode, s.Addresses = Cluster, []string{"a:1", "b:2"} }},
		"cluster of sockets": {
			change: func(s *Settings) { s.Mode, s.Addresses = Cluster, []string{"a:1", "/b"} }, want: "addresses[1]: ",
		},
		"cluster without address": {change: func(s *Settings) { s.Mode, s.Addresses = Cluster, nil }, want: "addresses: "},
		"cluster with database":   {change: func(s *Settings) { s.Mode, s.Database = Cluster, 1 }, want: "database: "},
		"sentinel": {change: func(s *Settings) {
			s.Mode, s.MasterName, s.SentinelUsername, s.SentinelPassword = Sentinel, "main", "watch", "word"
		}},
		"sentinel without master": {change: func(s *Settings) { s.Mode = Sentinel }, want: "masterName: "},
		"master without sentinel": {change: func(s *Settings) { s.MasterName = "main" }, want: "masterName: "},
		"sentinels' user without password": {change: func(s *Settings) {
			s.Mode, s.MasterName, s.SentinelUsername = Sentinel, "main", "watch"
		}, want: "sentinelPassword: "},
		"sentinels' user of a cluster": {change: func(s *Settings) {
			s.Mode, s.SentinelPassword = Cluster, "word"
		}, want: "sentinelPassword: "},
		"certificate without key": {change: func(s *Settings) { s.TLS = &TLS{Certificate: []byte("x")} }, want: "tls.key: "},
		"key without certificate": {change: func(s *Settings) { s.TLS = &TLS{Key: []byte("x")} }, want: "tls.certificate: "},
		"no certificate":          {change: func(s *Settings) { s.TLS = &TLS{Certificate: []byte("x"), Key: []byte("x")} }, want: "tls.certificate: "},
		"database":                {change: func(s *Settings) { s.Database = -1 }, want: "database: "},
		"prefix":                  {change: func(s *Settings) { s.KeyPrefix = "a{b}" }, want: "keyPrefix: "},
		"no address":              {change: func(s *Settings) { s.Addresses = nil }, want: "addresses: "},
		"two addresses":           {change: func(s *Settings) { s.Addresses = append(s.Addresses, "b:1") }, want: "addresses: "},
		"no port":                 {change: func(s *Settings) { s.Addresses = []string{"redis"} }, want: "addresses[0]: "},
		"port out of range":       {change: func(s *Settings) { s.Addresses = []string{"redis:70000"} }, want: "addresses[0]: "},
		"no password":             {change: func(s *Settings) { s.Username = "app" }, want: "password: "},
		"operation timeout":       {change: func(s *Settings) { s.OperationTimeout = -1 }, want: "operationTimeout: "},
		"dial timeout":            {change: func(s *Settings) { s.DialTimeout = -time.Second }, want: "dialTimeout: "},
		"CA":                      {change: func(s *Settings) { s.TLS = &TLS{CA: []byte("x")} }, want: "tls.ca: "},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			settings := Settings{Addresses: []string{"redis:6379"}}
			tc.change(&settings)
			err := settings.Validate()
			if (err == nil) != (tc.want == "") || (err != nil && !strings.HasPrefix(err.Error(), tc.want)) {
				t.Errorf("Validate() = %v, want an error that begins with %q", err, tc.want)
			}
			if tc.want == "" {
				return
			}
			if _, err := New(settings); err == nil {
				t.Error("New accepted settings that Validate refuses")
			}
		})
	}
}

func TestParseURL(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		url     string
		want    Settings
		wantErr string
	}{
		"host only": {url: "redis://cache", want: Settings{Mode: "Standalone", Addresses: []string{"cache:6379"}}},
		"everything": {
			url: "rediss://app:p%40ss@[::1]:7000/3",
			want: Settings{
				Mode: "Standalone", Addresses: []string{"[::1]:7000"}, Database: 3,
				Username: "app", Password: "p@ss", TLS: &TLS{},
			},
		},
		"password only": {url: "redis://:secret@h:1", want: Settings{Mode: "Standalone", Addresses: []string{"h:1"}, Password: "secret"}},
		"Unix socket": {
			url:  "unix://app:secret@/run/redis.sock?database=2",
			want: Settings{Mode: "Standalone", Addresses: []string{"/run/redis.sock"}, Username: "app", Password: "secret", Database: 2},
		},
		"Unix socket with a host":  {url: "unix://run/redis.sock", wantErr: "no host"},
		"Unix socket with a query": {url: "unix:///run/redis.sock?db=2", wantErr: "query"},
		"sentinels": {
			url: "redis-sentinel://app:p%40ss@a:1,[::1],c/main/2?sentinelUsername=watch&sentinelPassword=w%26rd",
			want: Settings{
				Mode: "Sentinel", Addresses: []string{"a:1", "[::1]:26379", "c:26379"}, MasterName: "main", Database: 2,
				Username: "app", Password: "p@ss", SentinelUsername: "watch", SentinelPassword: "w&rd",
			},
		},
		"sentinels over TLS": {
			url:  "rediss-sentinel://a/main",
			want: Settings{Mode: "Sentinel", Addresses: []string{"a:26379"}, MasterName: "main", TLS: &TLS{}},
		},
		"sentinels, no master": {url: "redis-sentinel://:secret@a", wantErr: "masterName"},
		"sentinels, query":     {url: "redis-sentinel://a/main?master=b", wantErr: "query"},
		"cluster": {
			url:  "redis-cluster://:secret@a,b:7001",
			want: Settings{Mode: "Cluster", Addresses: []string{"a:6379", "b:7001"}, Password: "secret"},
		},
		"cluster over TLS":       {url: "rediss-cluster://a", want: Settings{Mode: "Cluster", Addresses: []string{"a:6379"}, TLS: &TLS{}}},
		"cluster with database":  {url: "redis-cluster://a,b/1", wantErr: "database"},
		"host with a path in it": {url: "redis-cluster://a,b@c", wantErr: "password"},
		"empty host":             {url: "redis-cluster://a,,c", wantErr: "addresses[1]"},
		"other scheme":           {url: "http://h:1", wantErr: "scheme"},
		"no host":                {url: "redis://:secret@:1", wantErr: "addresses[0]"},
		"not a URL":              {url: "redis://app:secret/x@h", wantErr: "percent-encoded"},
		"bad database":           {url: "redis://app:secret@h/one", wantErr: "database"},
		"with a query":           {url: "redis://app:secret@h?db=1", wantErr: "query"},
		"user, no login":         {url: "redis://app@h", wantErr: "password"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, err := ParseURL(tc.url)
			if (err == nil) != (tc.wantErr == "") || (err != nil && !strings.Contains(err.Error(), tc.wantErr)) {
				t.Fatalf("ParseURL(%q) error %v, want one with %q", tc.url, err, tc.wantErr)
			}
			if err != nil && strings.Contains(err.Error(), "secret") {
				t.Errorf("the error shows the password: %v", err)
			}
			if diff := cmp.Diff(tc.want, got, cmp.Comparer(sameSettings)); diff != "" {
				t.Errorf("ParseURL(%q) (-want +got):\n%s", tc.url, diff)
			}
		})
	}
}

func sameSettings(a, b Settings) bool { return cmp.Equal(plain(a), plain(b)) }
