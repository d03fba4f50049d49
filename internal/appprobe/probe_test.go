// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package appprobe

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestParseSet(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		text    string
		want    Set
		wantErr string
	}{
		"each kind": {
			text: `{"web/readiness":{"httpGet":{"path":"/ready?full=1","port":8080,"scheme":"HTTPS","httpHeaders":[{"name":"X-A","value":"b"}]},"timeoutSeconds":5},
				"web/liveness":{"tcpSocket":{"port":8080}},"db":{"grpc":{"port":9090,"service":"shop"}}}`,
			want: Set{
				"web/readiness": {HTTPGet: &HTTPGet{Path: "/ready?full=1", Port: 8080, Scheme: "HTTPS", HTTPHeaders: []Header{{Name: "X-A", Value: "b"}}}, TimeoutSeconds: 5},
				"web/liveness":  {TCPSocket: &TCPSocket{Port: 8080}},
				"db":            {GRPC: &GRPC{Port: 9090, Service: "shop"}},
			},
		},
		"none":                 {text: `{}`, want: Set{}},
		"not JSON":             {text: `web`, wantErr: "want a JSON object of probes by name"},
		"more after it":        {text: `{} {}`, wantErr: "there is more after"},
		"unknown field":        {text: `{"a":{"httpGet":{"port":1,"host":"elsewhere"}}}`, wantErr: `unknown field "host"`},
		"two kinds":            {text: `{"a":{"tcpSocket":{"port":1},"grpc":{"port":1}}}`, wantErr: "none or several of httpGet, tcpSocket and grpc"},
		"no kind":              {text: `{"a":{}}`, wantErr: "none or several"},
		"named port":           {text: `{"a":{"tcpSocket":{"port":"http"}}}`, wantErr: "want a JSON object"},
		"no port":              {text: `{"a":{"httpGet":{"path":"/"}}}`, wantErr: "httpGet.port is 0"},
		"port of gRPC":         {text: `{"a":{"grpc":{"port":65536}}}`, wantErr: "grpc.port is 65536"},
		"port of a socket":     {text: `{"a":{"tcpSocket":{}}}`, wantErr: "tcpSocket.port is 0"},
		"scheme":               {text: `{"a":{"httpGet":{"port":1,"scheme":"https"}}}`, wantErr: "write HTTP or HTTPS"},
		"header with new line": {text: `{"a":{"httpGet":{"port":1,"httpHeaders":[{"name":"X","value":"a\nb"}]}}}`, wantErr: "no field of a request"},
		"timeout":              {text: `{"a":{"tcpSocket":{"port":1},"timeoutSeconds":-1}}`, wantErr: "timeoutSeconds is -1"},
		"name":                 {text: `{"../metrics":{"tcpSocket":{"port":1}}}`, wantErr: `probe "../metrics"`},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, err := ParseSet(tc.text)
			if tc.wantErr != "" {
				if err == nil || !strings.Contains(err.Error(), tc.wantErr) {
					t.Errorf("error is %v, want one that says %q", err, tc.wantErr)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("probes (-want +got):\n%s", diff)
			}
		})
	}
}

func TestTimeoutIsThatOfAPodWhereAbsent(t *testing.T) {
	t.Parallel()
	for seconds, want := range map[int]time.Duration{0: time.Second, 1: time.Second, 7: 7 * time.Second} {
		probe := Probe{TimeoutSeconds: seconds}
		if got := probe.timeout(); got != want {
			t.Errorf("timeout of %d is %v, want %v", seconds, got, want)
		}
	}
}
