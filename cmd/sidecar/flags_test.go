// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"log/slog"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/penstock-dev/penstock/internal/limiter"
	"github.com/penstock-dev/penstock/internal/proxy"
)

func TestParseFlags(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		arguments []string
		want      options
		wantErr   string
	}{
		"as the webhook writes them": {
			arguments: []string{"--port=15480=8080", "--port=15481=9090", "--admin-port=15420", "--store=/s", "--labels=/l"},
			want:      options{ports: portPairs{{15480, 8080}, {15481, 9090}}, adminPort: 15420, store: "/s", labels: "/l"},
		},
		"defaults":            {arguments: []string{"--port=1=2", "--rules=f"}, want: options{ports: portPairs{{1, 2}}, adminPort: 15420, rules: "f"}},
		"version needs none":  {arguments: []string{"--version"}, want: options{adminPort: 15420, version: true}},
		"no port":             {arguments: []string{"--store=/s"}, wantErr: "--port=15480=8080"},
		"neither source":      {arguments: []string{"--port=1=2"}, wantErr: "--store and --rules"},
		"both sources":        {arguments: []string{"--port=1=2", "--store=/s", "--rules=f"}, wantErr: "--store and --rules"},
		"port without app":    {arguments: []string{"--port=15480", "--store=/s"}, wantErr: "LISTEN=APP"},
		"port too large":      {arguments: []string{"--port=15480=65536", "--store=/s"}, wantErr: "65536"},
		"port zero":           {arguments: []string{"--port=0=8080", "--store=/s"}, wantErr: "1 to 65535"},
		"same port":           {arguments: []string{"--port=8080=8080", "--store=/s"}, wantErr: "cannot share"},
		"port twice":          {arguments: []string{"--port=1=2", "--port=1=3", "--store=/s"}, wantErr: "twice"},
		"admin port taken":    {arguments: []string{"--port=15420=8080", "--store=/s"}, wantErr: "--admin-port"},
		"admin port zero":     {arguments: []string{"--port=1=2", "--store=/s", "--admin-port=0"}, wantErr: "1 to 65535"},
		"app host":            {arguments: []string{"--port=1=2", "--store=/s", "--app-host=localhost"}, wantErr: "--app-host"},
		"probe":               {arguments: []string{"--port=1=2", "--store=/s", `--probes={"web":{}}`}, wantErr: "flag --probes"},
		"contradiction":       {arguments: []string{"--port=1=2", "--store=/s", "--key-label-series=5"}, wantErr: "--key-labels"},
		"no config":           {arguments: []string{"--port=1=2", "--store=/s", "--config=missing.json"}, wantErr: "flag --config"},
		"unknown flag":        {arguments: []string{"--prot=1=2"}, wantErr: "prot"},
		"unexpected argument": {arguments: []string{"--port=1=2", "--store=/s", "run"}, wantErr: "run"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, err := parseFlags(tc.arguments, &bytes.Buffer{})
			if tc.wantErr != "" {
				if err == nil || !strings.Contains(err.Error(), tc.wantErr) {
					t.Errorf("error %v, want one that names %q", err, tc.wantErr)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			// What is the same for all programs is tested where it is defined.
			got.proxy, tc.want.memoryKeys = proxy.Options{}, limiter.DefaultMemoryKeys
			if diff := cmp.Diff(tc.want, got, cmp.AllowUnexported(options{}, portPair{})); diff != "" {
				t.Errorf("options (-want +got):\n%s", diff)
			}
		})
	}
}

func TestTheFileSaysTheSameAsFlags(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "sidecar.json")
	write(t, file, `{"port": ["15480=8080", "15481=9090"], "store": "/s", "admin-port": 15425, "log-level": "warn",
		"probes": {"web/readiness": {"tcpSocket": {"port": 8080}}}, "key-labels": ["web/all"], "shutdown-timeout": "3s"}`)
	got, err := parseFlags([]string{"--config", file, "--admin-port=15426"}, &bytes.Buffer{})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(portPairs{{15480, 8080}, {15481, 9090}}, got.ports, cmp.AllowUnexported(portPair{})); diff != "" {
		t.Errorf("ports (-want +got):\n%s", diff)
	}
	if got.adminPort != 15426 || got.store != "/s" || got.logLevel != slog.LevelWarn || got.proxy.Bounds.ShutdownTimeout != 3*time.Second {
		t.Errorf("admin port %d, store %s, level %v, shutdown timeout %v", got.adminPort, got.store, got.logLevel, got.proxy.Bounds.ShutdownTimeout)
	}
	if len(got.probes) != 1 || len(got.proxy.KeyLabels) != 1 {
		t.Errorf("probes %v, key labels %v; want one each", got.probes, got.proxy.KeyLabels)
	}
	write(t, file, `{"port": ["15480=8080"], "store": "/s", "rules": "/r"}`)
	if _, err := parseFlags([]string{"--config", file}, &bytes.Buffer{}); err == nil || !strings.Contains(err.Error(), "--store and --rules") {
		t.Errorf("error of settings that contradict is %v", err)
	}
}
