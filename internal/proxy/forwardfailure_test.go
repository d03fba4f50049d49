// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package proxy

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"syscall"
	"testing"
)

func TestForwardFailures(t *testing.T) {
	t.Parallel()
	closing := startRawApp(t, func(net.Conn, *bufio.Reader, string) {})
	garbage := startRawApp(t, func(conn net.Conn, _ *bufio.Reader, _ string) { fmt.Fprint(conn, "SSH-2.0-OpenSSH\r\n\r\n") })
	for name, upstream := range map[string]string{"refused": closedAddress(t), "closed without answer": closing, "not HTTP": garbage} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := start(t, upstream, rulesOf(t, onePolicy()), admitting)
			response, body := send(t, http.MethodPost, f.url, nil, strings.NewReader("x"))
			checkProblem(t, response, body, http.StatusBadGateway, "look at the application")
			if response.Header.Get("X-RateLimit-Remaining") != "9" {
				t.Error("the answer does not tell that the request was counted")
			}
		})
	}
}

func TestForwardTimeout(t *testing.T) {
	t.Parallel()
	recorder := httptest.NewRecorder()
	answerForwardFailure(recorder, httptest.NewRequest(http.MethodGet, "/", nil), fmt.Errorf("dial app: %w", os.ErrDeadlineExceeded))
	checkProblem(t, recorder.Result(), recorder.Body.String(), http.StatusGatewayTimeout, "did not answer in time")
}

func TestBrokenRequestBodyIsNotTheAppsFault(t *testing.T) {
	t.Parallel()
	app := startApp(t, func(_ http.ResponseWriter, request *http.Request) { _, _ = io.Copy(io.Discard, request.Body) })
	f := start(t, app, nil, nil)
	conn, reader := f.dial(t)
	fmt.Fprint(conn, "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\nnot a chunk\r\n")
	response, err := http.ReadResponse(reader, nil)
	if err != nil {
		t.Fatal(err)
	}
	body, _ := io.ReadAll(response.Body)
	checkProblem(t, response, string(body), http.StatusBadRequest, "ended early or was malformed")
}

// TestClientThatLeaves holds that the app hears of it.
func TestClientThatLeaves(t *testing.T) {
	t.Parallel()
	arrived, left := make(chan struct{}), make(chan struct{})
	app := startApp(t, func(_ http.ResponseWriter, request *http.Request) {
		close(arrived)
		<-request.Context().Done()
		close(left)
	})
	f := start(t, app, nil, nil)
	ctx, cancel := context.WithCancel(t.Context())
	go func() {
		<-arrived
		cancel()
	}()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, f.url, nil)
	if err != nil {
		t.Fatal(err)
	}
	if response, err := client(t).Do(request); err == nil {
		response.Body.Close()
		t.Fatalf("answer is %d, want none", response.StatusCode)
	}
	<-left
}

// TestHTTP2PrefaceIsRefused has a client that goes over to HTTP/2 within a connection:
// net/http hands its preface over as a request, and its frames as the body.
func TestHTTP2PrefaceIsRefused(t *testing.T) {
	t.Parallel()
	app := startApp(t, func(http.ResponseWriter, *http.Request) { t.Error("the app got the preface of HTTP/2") })
	f := start(t, app, rulesOf(t), admitting)
	if answer := f.exchange(t, "PRI * HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\nSM\r\n\r\n"); !strings.HasPrefix(answer, "HTTP/1.1 505") {
		t.Errorf("the answer is %q, want a 505", answer)
	}
}

func TestConnectIsRefused(t *testing.T) {
	t.Parallel()
	app := startApp(t, func(http.ResponseWriter, *http.Request) { t.Error("the app got a CONNECT") })
	f := start(t, app, nil, nil)
	if answer := f.exchange(t, "CONNECT a:80 HTTP/1.1\r\nHost: a:80\r\nConnection: close\r\n\r\n"); !strings.HasPrefix(answer, "HTTP/1.1 405") {
		t.Errorf("answer is %q, want 405", answer)
	}
}

// TestTargetOfNoFormIsRefused has targets that a Go app reads as /login.
func TestTargetOfNoFormIsRefused(t *testing.T) {
	t.Parallel()
	app := startApp(t, func(http.ResponseWriter, *http.Request) { t.Error("the app got a malformed target") })
	f := start(t, app, nil, nil)
	for _, target := range []string{"http:/login", "HTTP:///login", "x:/login", "http:login"} {
		if answer := f.exchange(t, "GET "+target+" HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n"); !strings.HasPrefix(answer, "HTTP/1.1 400") {
			t.Errorf("%s: answer is %q, want 400", target, answer)
		}
	}
}

// closedAddress is an address that refuses connections until the test ends: its port is
// taken, so that no other test listens there, and nobody accepts.
func closedAddress(t *testing.T) string {
	t.Helper()
	socket, err := syscall.Socket(syscall.AF_INET, syscall.SOCK_STREAM, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = syscall.Close(socket) })
	if err := syscall.Bind(socket, &syscall.SockaddrInet4{Addr: [4]byte{127, 0, 0, 1}}); err != nil {
		t.Fatal(err)
	}
	bound, err := syscall.Getsockname(socket)
	if err != nil {
		t.Fatal(err)
	}
	return fmt.Sprintf("127.0.0.1:%d", bound.(*syscall.SockaddrInet4).Port)
}

// checkProblem checks a problem+json answer by its status and a part of its detail.
func checkProblem(t *testing.T, response *http.Response, body string, status int, detail string) problem {
	t.Helper()
	var got problem
	if err := json.Unmarshal([]byte(body), &got); err != nil {
		t.Fatalf("body %q: %v", body, err)
	}
	if response.StatusCode != status || got.Status != status || !strings.Contains(got.Detail, detail) || got.Title == "" {
		t.Errorf("answer is %d with %+v, want %d with a detail that has %q", response.StatusCode, got, status, detail)
	}
	if contentType := response.Header.Get("Content-Type"); contentType != "application/problem+json" {
		t.Errorf("content type is %q, want application/problem+json", contentType)
	}
	return got
}
