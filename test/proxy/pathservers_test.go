// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package proxy

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/penstock-dev/penstock/test/proxyrun"
)

// reached is what an app's handler of /api/login answers.
const reached = "reached"

// pathServers are apps with a handler for /api/login, each a real server.
var pathServers = []struct {
	name  string
	start func(t *testing.T) (address string)
}{
	{"Go ServeMux", startServeMux},
	{"nginx", startNginx},
	{"Express' rules on Node", func(t *testing.T) string { return startNode(t, "express") }},
	{"Node, URL class", func(t *testing.T) string { return startNode(t, "url") }},
}

func startServeMux(t *testing.T) string {
	mux := http.NewServeMux()
	mux.HandleFunc("/api/login", func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, reached) })
	server := httptest.NewServer(mux)
	t.Cleanup(server.Close)
	return server.Listener.Addr().String()
}

func startNode(t *testing.T, router string) string {
	node := findProgram(t, "node")
	output := run(t, exec.Command(node, "testdata/router.js", router))
	line, err := bufio.NewReader(output).ReadString('\n')
	port, found := strings.CutPrefix(strings.TrimSpace(line), "port ")
	if !found {
		t.Fatalf("node printed %q: %v", line, err)
	}
	return "127.0.0.1:" + port
}

const nginxConfiguration = `daemon off; master_process off; pid %[1]s/pid; error_log stderr;
events {}
http {
  access_log off; client_body_temp_path %[1]s; proxy_temp_path %[1]s; fastcgi_temp_path %[1]s; uwsgi_temp_path %[1]s; scgi_temp_path %[1]s;
  server {
    listen %[2]s;
    location = /api/login { return 200 "reached"; }
    location / { return 404 "not here"; }
  }
}
`

func startNginx(t *testing.T) string {
	nginx, folder, address := findProgram(t, "nginx"), t.TempDir(), proxyrun.FreeAddress(t)
	file := filepath.Join(folder, "nginx.conf")
	if err := os.WriteFile(file, fmt.Appendf(nil, nginxConfiguration, folder, address), 0o600); err != nil {
		t.Fatal(err)
	}
	run(t, exec.Command(nginx, "-p", folder, "-c", file))
	awaitListening(t, address)
	return address
}

// findProgram fails with what to do where a program is missing.
func findProgram(t *testing.T, name string) string {
	t.Helper()
	path, err := exec.LookPath(name)
	if err != nil {
		t.Fatalf("%v; run: make http-programs", err)
	}
	return path
}

// run starts a program until the test ends and returns its output.
func run(t *testing.T, command *exec.Cmd) io.Reader {
	t.Helper()
	output, err := command.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	command.Stderr = os.Stderr
	if err := command.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = command.Process.Kill()
		_ = command.Wait()
	})
	return output
}

func awaitListening(t *testing.T, address string) {
	t.Helper()
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	for deadline := time.Now().Add(proxyrun.Patience); ; <-tick.C {
		conn, err := net.Dial("tcp", address)
		if err == nil {
			_ = conn.Close()
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("nothing listens at %s: %v", address, err)
		}
	}
}

// ask sends a target as it is and returns the status, header and body.
func ask(t *testing.T, address, target string) (int, http.Header, string) {
	t.Helper()
	conn, err := net.Dial("tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close() }()
	if _, err := io.WriteString(conn, "GET "+target+" HTTP/1.1\r\nHost: app.example\r\nConnection: close\r\n\r\n"); err != nil {
		t.Fatal(err)
	}
	answer, err := http.ReadResponse(bufio.NewReader(conn), nil)
	if err != nil {
		t.Fatalf("answer to %s: %v", target, err)
	}
	body, err := io.ReadAll(answer.Body)
	if err != nil {
		t.Fatalf("answer to %s: %v", target, err)
	}
	return answer.StatusCode, answer.Header, string(body)
}
