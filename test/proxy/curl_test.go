// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package proxy

import (
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/penstock-dev/penstock/test/proxyrun"
)

// output runs a client and returns what it prints.
func output(t *testing.T, stdin, program string, arguments ...string) string {
	t.Helper()
	path, err := exec.LookPath(program)
	if err != nil {
		t.Fatalf("find %s: %v; run: make http-programs", program, err)
	}
	command := exec.CommandContext(patient(t), path, arguments...)
	command.Stdin = strings.NewReader(stdin)
	text, err := command.CombinedOutput()
	if err != nil {
		t.Fatalf("%s: %v\n%s", command, err, text)
	}
	return string(text)
}

func testCurl(t *testing.T, sidecar *proxyrun.Proxy) {
	large := strings.Repeat("large body ", 1<<19)
	versions := map[string]struct{ flag, proto string }{
		"1.0": {"--http1.0", "HTTP/1.1"}, "1.1": {"--http1.1", "HTTP/1.1"}, "2": {"--http2-prior-knowledge", "HTTP/2.0"},
	}
	for version, v := range versions {
		tests := map[string]struct {
			arguments   []string
			path, stdin string
			want        string
		}{
			"GET":              {path: "/echo/a%2fb/%41?c;d=%zz", arguments: []string{"--path-as-is"}, want: echoed(v.proto, "GET", "/echo/a%2fb/%41?c;d=%zz", "")},
			"HEAD":             {path: "/large?size=4000", arguments: []string{"-I", "-o", "/dev/null", "-w", "%{http_code} %{size_download}"}, want: "200 0"},
			"POST":             {path: "/echo/p", arguments: []string{"-d", "body"}, want: echoed(v.proto, "POST", "/echo/p", "body")},
			"empty POST":       {path: "/echo/p", arguments: []string{"-X", "POST"}, want: echoed(v.proto, "POST", "/echo/p", "")},
			"large upload":     {path: "/echo/u", arguments: []string{"-X", "PUT", "--data-binary", "@-"}, stdin: large, want: echoed(v.proto, "PUT", "/echo/u", large)},
			"expectation":      {path: "/echo/u", arguments: []string{"-H", "Expect: 100-continue", "--data-binary", "@-"}, stdin: "four", want: echoed(v.proto, "POST", "/echo/u", "four")},
			"large download":   {path: "/large?size=20000000", arguments: []string{"-o", "/dev/null", "-w", "%{size_download}"}, want: "20000000"},
			"server events":    {path: "/events", want: "data: 0\n\ndata: 1\n\ndata: 2\n\n"},
			"no content":       {path: "/status/204", arguments: []string{"-w", "%{http_code}"}, want: "204"},
			"not modified":     {path: "/status/304", arguments: []string{"-w", "%{http_code}"}, want: "304"},
			"early hints":      {path: "/hints", want: "after hints"},
			"answer to all":    {path: "/echo/o", arguments: []string{"-X", "OPTIONS"}, want: echoed(v.proto, "OPTIONS", "/echo/o", "")},
			"fields on limits": {path: "/echo/l", arguments: []string{"-o", "/dev/null", "-w", "%header{ratelimit-policy}"}, want: ""},
		}
		for name, tc := range tests {
			t.Run("HTTP "+version+" "+name, func(t *testing.T) {
				t.Parallel()
				arguments := append([]string{"-sS", "--noproxy", "*", "--max-time", "60", v.flag}, tc.arguments...)
				got := output(t, tc.stdin, "curl", append(arguments, sidecar.URL()+tc.path)...)
				if name == "fields on limits" {
					if !strings.Contains(got, `"web/all/all"`) {
						t.Errorf("RateLimit-Policy is %q, want the limit's", got)
					}
					return
				}
				if got != tc.want {
					t.Errorf("curl printed %q, want %q", got, tc.want)
				}
			})
		}
	}
	t.Run("limit of all versions", func(t *testing.T) {
		t.Parallel()
		var statuses []string
		for _, version := range []string{"1.1", "2", "1.0", "2"} {
			statuses = append(statuses, output(t, "", "curl", "-sS", "--noproxy", "*", versions[version].flag, "-o", "/dev/null", "-w", "%{http_code}", sidecar.URL()+"/echo/limited"))
		}
		if got := strings.Join(statuses, " "); got != "200 429 429 429" {
			t.Errorf("the statuses are %s, want one 200 whatever is spoken", got)
		}
	})
	t.Run("HTTP 1.1 connection is kept", func(t *testing.T) {
		t.Parallel()
		got := output(t, "", "curl", "-sS", "--noproxy", "*", "--http1.1", "-o", "/dev/null", "-w", "%{num_connects}", sidecar.URL()+"/echo/1", "-o", "/dev/null", sidecar.URL()+"/echo/2")
		if got != "10" {
			t.Errorf("connections of two requests are %q, want one and none", got)
		}
	})
}

func testNghttp2(t *testing.T, sidecar *proxyrun.Proxy) {
	t.Run("many streams", func(t *testing.T) {
		t.Parallel()
		got := output(t, "", "nghttp", "-n", "-s", "-m", "50", sidecar.URL()+"/echo/m")
		if count := strings.Count(got, " 200 "); count != 50 {
			t.Errorf("%d of 50 answers are 200:\n%s", count, got)
		}
	})
	t.Run("continuation", func(t *testing.T) {
		t.Parallel()
		got := output(t, "", "nghttp", "-v", "-n", "--continuation", sidecar.URL()+"/echo/c")
		if !strings.Contains(got, ":status: 200") {
			t.Errorf("no answer to a header in pieces:\n%s", got)
		}
	})
	t.Run("trailer", func(t *testing.T) {
		t.Parallel()
		file := filepath.Join(t.TempDir(), "body")
		if err := os.WriteFile(file, []byte("body"), 0o600); err != nil {
			t.Fatal(err)
		}
		got := output(t, "", "nghttp", "-v", "--trailer=x-sent: 1", "-H", "trailer: x-sent", "-d", file, sidecar.URL()+"/trailers")
		if !strings.Contains(got, "x-sum: got 1") {
			t.Errorf("no trailer came back:\n%s", got)
		}
	})
	for name, flag := range map[string]string{"load of HTTP 2": "-pnghttp2", "load of HTTP 1.1": "--h1"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			const requests = 2000
			arguments := []string{"-n", strconv.Itoa(requests), "-c", "10", "-m", "10", sidecar.URL() + "/large?size=1000"}
			if flag == "--h1" {
				arguments = append([]string{flag}, arguments...)
			}
			got := output(t, "", "h2load", arguments...)
			if !strings.Contains(got, "2000 succeeded, 0 failed, 0 errored") {
				t.Errorf("not all succeeded:\n%s", got)
			}
		})
	}
}
