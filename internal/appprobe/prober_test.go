// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package appprobe

import (
	"context"
	"errors"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"go.uber.org/goleak"
	"google.golang.org/grpc"
	"google.golang.org/grpc/health"
	healthv1 "google.golang.org/grpc/health/grpc_health_v1"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// serve runs an app and returns its port.
func serve(t *testing.T, handler http.HandlerFunc) int {
	t.Helper()
	app := httptest.NewServer(handler)
	t.Cleanup(app.Close)
	return portOf(app.Listener.Addr())
}

func portOf(address net.Addr) int { return address.(*net.TCPAddr).Port }

// closedPort is one where nothing listens.
func closedPort(t *testing.T) int {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	return portOf(listener.Addr())
}

// serveHealth runs a gRPC server with a health service and returns its port.
func serveHealth(t *testing.T, withHealth bool) int {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	server := grpc.NewServer()
	if withHealth {
		states := health.NewServer()
		states.SetServingStatus("up", healthv1.HealthCheckResponse_SERVING)
		states.SetServingStatus("down", healthv1.HealthCheckResponse_NOT_SERVING)
		healthv1.RegisterHealthServer(server, states)
	}
	var group sync.WaitGroup
	group.Go(func() { _ = server.Serve(listener) })
	t.Cleanup(func() {
		server.Stop()
		group.Wait()
	})
	return portOf(listener.Addr())
}

// app answers by the path it is asked for.
func app(w http.ResponseWriter, r *http.Request) {
	switch r.URL.Path {
	case "/ok", "/":
	case "/moved":
		http.Redirect(w, r, "/ok", http.StatusFound)
	case "/moved-and-broken":
		http.Redirect(w, r, "/broken", http.StatusFound)
	case "/elsewhere":
		http.Redirect(w, r, "http://app.invalid/", http.StatusFound)
	case "/circle":
		http.Redirect(w, r, "/circle", http.StatusFound)
	case "/header":
		if r.Host != "shop" || strings.Join(r.Header["X-Probe"], ",") != "a,b" || r.URL.RawQuery != "full=1" || r.UserAgent() != userAgent || r.Header.Get("Accept") != "*/*" {
			w.WriteHeader(http.StatusBadRequest)
		}
	case "/agent":
		if _, sent := r.Header["Accept"]; sent || r.UserAgent() != "mine" {
			w.WriteHeader(http.StatusBadRequest)
		}
	case "/hangs":
		<-r.Context().Done()
	case "/stops-at-304":
		w.WriteHeader(http.StatusNotModified)
	default:
		w.WriteHeader(http.StatusInternalServerError)
	}
}

func TestProbeHTTP(t *testing.T) {
	t.Parallel()
	port := serve(t, app)
	secure := httptest.NewTLSServer(http.HandlerFunc(app))
	t.Cleanup(secure.Close)
	cases := map[string]struct {
		get  HTTPGet
		want string // empty: the app passes
	}{
		"answers":                {get: HTTPGet{Path: "/ok"}},
		"no path":                {get: HTTPGet{}},
		"path without slash":     {get: HTTPGet{Path: "ok"}},
		"redirects":              {get: HTTPGet{Path: "/moved"}},
		"redirects to a failure": {get: HTTPGet{Path: "/moved-and-broken"}, want: "status 500"},
		"another host is left":   {get: HTTPGet{Path: "/elsewhere"}},
		"redirects in a circle":  {get: HTTPGet{Path: "/circle"}, want: "10 redirects"},
		"304":                    {get: HTTPGet{Path: "/stops-at-304"}},
		"fails":                  {get: HTTPGet{Path: "/broken"}, want: "status 500"},
		"header":                 {get: HTTPGet{Path: "/header?full=1", HTTPHeaders: []Header{{"host", "shop"}, {"x-probe", "a"}, {"X-Probe", "b"}}}},
		"own agent, no accept":   {get: HTTPGet{Path: "/agent", HTTPHeaders: []Header{{"User-Agent", "mine"}, {"accept", ""}}}},
		"TLS is not verified":    {get: HTTPGet{Path: "/ok", Scheme: "HTTPS", Port: portOf(secure.Listener.Addr())}},
		"plain where TLS is":     {get: HTTPGet{Path: "/ok", Port: portOf(secure.Listener.Addr())}, want: "status 400"},
		"hangs":                  {get: HTTPGet{Path: "/hangs"}, want: "deadline exceeded"},
		"refuses":                {get: HTTPGet{Path: "/ok", Port: closedPort(t)}, want: "connection refused"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if tc.get.Port == 0 {
				tc.get.Port = port
			}
			expect(t, Probe{HTTPGet: &tc.get}, tc.want)
		})
	}
}

func TestProbeSocket(t *testing.T) {
	t.Parallel()
	expect(t, Probe{TCPSocket: &TCPSocket{Port: serve(t, app)}}, "")
	expect(t, Probe{TCPSocket: &TCPSocket{Port: closedPort(t)}}, "connection refused")
}

func TestProbeGRPC(t *testing.T) {
	t.Parallel()
	port := serveHealth(t, true)
	silent, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { silent.Close() })
	cases := map[string]struct {
		probe GRPC
		want  string
	}{
		"the server":        {probe: GRPC{Port: port}},
		"a service":         {probe: GRPC{Port: port, Service: "up"}},
		"a service is down": {probe: GRPC{Port: port, Service: "down"}, want: "says NOT_SERVING"},
		"unknown service":   {probe: GRPC{Port: port, Service: "nobody"}, want: `knows no service "nobody"`},
		"no health service": {probe: GRPC{Port: serveHealth(t, false)}, want: "has no service grpc.health.v1.Health"},
		"speaks HTTP/1":     {probe: GRPC{Port: serve(t, app)}, want: "ask the app"},
		"accepts, no more":  {probe: GRPC{Port: portOf(silent.Addr())}, want: "deadline exceeded"},
		"refuses":           {probe: GRPC{Port: closedPort(t)}, want: "connection refused"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			expect(t, Probe{GRPC: &tc.probe}, tc.want)
		})
	}
}

// expect performs a probe of the app at loopback.
func expect(t *testing.T, probe Probe, want string) {
	t.Helper()
	err := NewProber("127.0.0.1", Set{"app": probe}).Probe(t.Context(), "app")
	switch {
	case want == "" && err != nil:
		t.Errorf("probe says %v, want that the app passes", err)
	case want != "" && (err == nil || !strings.Contains(err.Error(), want)):
		t.Errorf("probe says %v, want %q", err, want)
	}
}

func TestAskersShareAnAttempt(t *testing.T) {
	t.Parallel()
	var asked atomic.Int64
	arrived, release := make(chan struct{}, 10), make(chan struct{})
	port := serve(t, func(http.ResponseWriter, *http.Request) {
		asked.Add(1)
		arrived <- struct{}{}
		<-release
	})
	probe := Probe{HTTPGet: &HTTPGet{Port: port}, TimeoutSeconds: 10}
	prober := NewProber("127.0.0.1", Set{"app": probe})
	first := prober.join(t.Context(), "app", &probe)
	<-arrived
	left, leave := context.WithCancel(t.Context())
	leave()
	if err := prober.Probe(left, "app"); !errors.Is(err, context.Canceled) {
		t.Errorf("whoever leaves is told %v", err)
	}
	if prober.join(t.Context(), "app", &probe) != first {
		t.Error("a second asker began another attempt")
	}
	close(release)
	<-first.done
	if got := asked.Load(); first.err != nil || got != 1 {
		t.Errorf("the app was asked %d times, and the probe says %v", got, first.err)
	}
	if err := prober.Probe(t.Context(), "app"); err != nil || asked.Load() != 2 {
		t.Errorf("the next probe says %v, and the app was asked %d times", err, asked.Load())
	}
	if err := prober.Probe(t.Context(), "other"); !errors.Is(err, ErrUnknown) {
		t.Errorf("probe that is not declared says %v", err)
	}
}

func FuzzHealthVerdict(f *testing.F) {
	f.Add([]byte{0, 0, 0, 0, 2, 8, 1})
	f.Add([]byte{0, 0, 0, 0, 0})
	f.Fuzz(func(t *testing.T, frame []byte) {
		if err := healthVerdict(frame); err == nil && len(frame) < 7 {
			t.Errorf("frame %v passes", frame)
		}
	})
}
