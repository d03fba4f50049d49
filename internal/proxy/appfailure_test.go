// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package proxy

import (
	"bufio"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestAppFailureOf(t *testing.T) {
	t.Parallel()
	dial := func(err error) error { return &net.OpError{Op: "dial", Net: "tcp", Err: err} }
	read := func(err error) error { return &net.OpError{Op: "read", Net: "tcp", Err: err} }
	tests := map[string]struct {
		err    error
		want   appFailure
		status int
	}{
		"refused":           {dial(os.NewSyscallError("connect", syscall.ECONNREFUSED)), appRefused, 502},
		"dial timeout":      {dial(os.ErrDeadlineExceeded), appDialTimeout, 504},
		"no route":          {dial(os.NewSyscallError("connect", syscall.EHOSTUNREACH)), appUnreachable, 502},
		"no such host":      {dial(&net.DNSError{Err: "no such host", IsNotFound: true}), appUnreachable, 502},
		"timeout":           {read(os.ErrDeadlineExceeded), appTimeout, 504},
		"connection is old": {read(os.NewSyscallError("read", syscall.ETIMEDOUT)), appTimeout, 504},
		"reset":             {read(os.NewSyscallError("read", syscall.ECONNRESET)), appClosed, 502},
		"ended":             {io.EOF, appClosed, 502},
		"ended by its end":  {&net.OpError{Op: "write", Err: net.ErrClosed}, appClosed, 502},
		"broken pipe":       {&net.OpError{Op: "write", Err: syscall.EPIPE}, appClosed, 502},
		"certificate":       {&tls.CertificateVerificationError{Err: errors.New("expired")}, appCertificate, 502},
		"switched":          {errSwitched, appSwitched, 502},
		"something else":    {errors.New("malformed HTTP response"), appAnswersInvalid, 502},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			failure := appFailureOf(fmt.Errorf("forward: %w", tc.err))
			if failure != tc.want || failure.status() != tc.status {
				t.Errorf("%s with status %d, want %s with %d", failure, failure.status(), tc.want, tc.status)
			}
		})
	}
}

// failuresOf are the failures that were counted, by reason.
func failuresOf(t *testing.T, f *fixture) map[string]float64 {
	t.Helper()
	counts := make(map[string]float64)
	if err := eachSeries(f.server.metrics.appFailures, func(labels map[string]string, value float64) {
		counts[labels["port"]+" "+labels["reason"]] = value
	}); err != nil {
		t.Fatal(err)
	}
	return counts
}

// TestAppFailuresAreTold counts and logs, sampled, and repeats nothing of what came from
// the app or the client.
func TestAppFailuresAreTold(t *testing.T) {
	t.Parallel()
	garbage := startRawApp(t, func(conn net.Conn, _ *bufio.Reader, _ string) { fmt.Fprint(conn, "SECRET/1\r\n\r\n") })
	switching := startRawApp(t, func(conn net.Conn, _ *bufio.Reader, _ string) {
		fmt.Fprint(conn, "HTTP/1.1 101 Switching Protocols\r\nUpgrade: SECRET\r\nConnection: Upgrade\r\n\r\n")
	})
	closing := startRawApp(t, func(net.Conn, *bufio.Reader, string) {})
	for reason, upstream := range map[string]string{"refused": closedAddress(t), "closed": closing, "invalid": garbage, "switched": switching} {
		t.Run(reason, func(t *testing.T) {
			t.Parallel()
			f := start(t, upstream, nil, nil)
			for range 2 {
				send(t, http.MethodGet, f.url+"/SECRET", http.Header{"X-Key": {"SECRET"}}, nil)
			}
			if diff := cmp.Diff(map[string]float64{"8080 " + reason: 2}, failuresOf(t, f)); diff != "" {
				t.Errorf("failures (-want +got):\n%s", diff)
			}
			if err := f.stop(); err != nil {
				t.Fatal(err)
			}
			logged := f.logs.String()
			if strings.Contains(logged, "SECRET") {
				t.Errorf("the log tells what it must not:\n%s", logged)
			}
			want := map[string]any{
				"level": "WARN", "msg": "The application did not answer, so its client was answered here: look at the application",
				"port": 8080.0, "reason": reason, "status": 502.0,
			}
			if got := lines(t, f.logs); len(got) == 0 || len(got) > 2 || cmp.Diff(want, got[0]) != "" {
				t.Errorf("logged\n%s\nwant one line for each second, the first of them %v", logged, want)
			}
		})
	}
}

func TestAppFailuresOfHTTP2(t *testing.T) {
	t.Parallel()
	f := start(t, closedAddress(t), nil, nil)
	response, err := http2Client(t).Post(f.url, "text/plain", strings.NewReader("x"))
	if err != nil {
		t.Fatal(err)
	}
	response.Body.Close()
	if diff := cmp.Diff(map[string]float64{"8080 refused": 1}, failuresOf(t, f)); diff != "" || response.StatusCode != http.StatusBadGateway {
		t.Errorf("status %d, failures (-want +got):\n%s", response.StatusCode, diff)
	}
}

// TestWhatIsNoFailureOfTheApp is neither counted nor logged.
func TestWhatIsNoFailureOfTheApp(t *testing.T) {
	t.Parallel()
	f := start(t, startApp(t, func(w http.ResponseWriter, request *http.Request) {
		_, _ = io.Copy(io.Discard, request.Body)
		w.WriteHeader(http.StatusBadGateway)
	}), nil, nil)
	if answer := f.exchange(t, "GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n"); !strings.HasPrefix(answer, "HTTP/1.1 502") {
		t.Errorf("the app's own answer became %q", answer)
	}
	f.exchange(t, "POST / HTTP/1.1\r\nHost: a\r\nConnection: close\r\nTransfer-Encoding: chunked\r\n\r\nnot a chunk\r\n")
	gone := httptest.NewRequest(http.MethodGet, "/", nil)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	f.server.forwardFailed(f.server.ports[0], httptest.NewRecorder(), gone.WithContext(ctx), io.EOF)
	if counts := failuresOf(t, f); len(counts) > 0 {
		t.Errorf("counted %v", counts)
	}
	if err := f.stop(); err != nil || strings.Contains(f.logs.String(), "did not answer") {
		t.Errorf("error %v, logged:\n%s", err, f.logs)
	}
}
