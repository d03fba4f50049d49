// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package proxy

import (
	"bufio"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/penstock-dev/penstock/test/proxyrun"
)

// smuggled is what a client sends on one connection.
type smuggled struct {
	bytes string
	// want are the requests that the app is to see, whole and well-formed, and the
	// sidecar to count: one line for each.
	want []string
	// cut says that one more is counted that ends early: its header is in order, and
	// its body is not.
	cut bool
}

// sentinel ends the connection, if it is still open and in step.
const (
	sentinel     = "GET /end HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n"
	sentinelSeen = "GET /end of a"
)

// TestSmuggling sends what two readers could take for different requests. The app,
// which reads as strictly as one can, must see what the sidecar counts and nothing
// else.
func TestSmuggling(t *testing.T) {
	t.Parallel()
	app := startRecorder(t)
	sidecar := proxyrun.StartPenstock(t, "http://"+app.address(), "rules: [{name: all, limits: [{name: all, requests: 1000000, window: 1h}]}]")
	count := func() float64 { return sidecar.Metric("penstock_decisions_total") }
	before := sidecar.Idle()
	for name, tc := range smugglingCases() {
		t.Run(name, func(t *testing.T) {
			counted := count()
			refused := talk(t, sidecar.Address, &tc)
			whole, faults := app.take()
			if diff := cmp.Diff(tc.want, whole, cmpopts.EquateEmpty()); diff != "" {
				t.Errorf("the app saw (-want +got):\n%s", diff)
			}
			if len(faults) > 0 {
				t.Errorf("the app saw what is no request: %q", faults)
			}
			want := len(tc.want)
			if tc.cut {
				want++
			}
			if got := int(count() - counted); got != want {
				t.Errorf("%d requests were counted, want %d", got, want)
			}
			if len(tc.want) == 0 && refused == http.StatusOK {
				t.Error("the answer is 200, want a refusal")
			}
		})
	}
	sidecar.WantIdle(before)
}

// talk sends a case's bytes, and behind them the sentinel if the connection is still
// open then. It returns the first status, or 0 if there was no answer.
func talk(t *testing.T, address string, tc *smuggled) (first int) {
	t.Helper()
	conn, err := net.Dial("tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close() }()
	if err := conn.SetDeadline(time.Now().Add(proxyrun.Patience)); err != nil {
		t.Fatal(err)
	}
	reader := bufio.NewReader(conn)
	if _, err := io.WriteString(conn, tc.bytes); err != nil {
		return 0
	}
	for range max(1, len(tc.want)) {
		response, err := http.ReadResponse(reader, nil)
		if err != nil {
			return first
		}
		if first == 0 {
			first = response.StatusCode
		}
		if _, err := io.Copy(io.Discard, response.Body); err != nil || response.Close {
			return first
		}
	}
	if tc.cut {
		return first
	}
	if _, err := io.WriteString(conn, sentinel); err != nil {
		return first
	}
	response, err := http.ReadResponse(reader, nil)
	if err == nil && response.StatusCode == http.StatusOK {
		tc.want = append(tc.want, sentinelSeen)
	}
	rest, _ := io.ReadAll(reader)
	if strings.Contains(string(rest), "HTTP/1.1 200") {
		t.Errorf("behind the answers comes another: %q", rest)
	}
	return first
}
