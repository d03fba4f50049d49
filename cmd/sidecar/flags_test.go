// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
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
			if diff := cmp.Diff(tc.want, got, cmp.AllowUnexported(options{}, portPair{})); diff != "" {
				t.Errorf("options (-want +got):\n%s", diff)
			}
		})
	}
}
