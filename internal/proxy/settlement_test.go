// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package proxy

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"testing"
	"time"

	"github.com/penstock-dev/penstock/internal/limiter"
	"github.com/penstock-dev/penstock/internal/ruleset"
)

func TestDueFor(t *testing.T) {
	t.Parallel()
	const reserved = 2
	told := &ruleset.ResponseCost{Header: "x-cost", Max: 100}
	failures := &ruleset.Cost{CountOn: []int{401, 403}}
	say := func(values ...string) http.Header { return http.Header{"X-Cost": values} }
	tests := map[string]struct {
		cost   *ruleset.Cost
		status int
		header http.Header
		want   int64
	}{
		"no cost":                           {status: 200, want: 2},
		"counted":                           {cost: failures, status: 403, want: 2},
		"not counted":                       {cost: failures, status: 200, want: 0},
		"the app did not answer":            {cost: failures, status: 502, want: 0},
		"the client left":                   {cost: failures, status: statusClientGone, want: 2},
		"no answer at all":                  {cost: failures, want: 2},
		"told":                              {cost: &ruleset.Cost{Response: told}, status: 200, header: say("7"), want: 9},
		"told nothing":                      {cost: &ruleset.Cost{Response: told}, status: 200, want: 2},
		"told nonsense":                     {cost: &ruleset.Cost{Response: told}, status: 200, header: say("-7"), want: 2},
		"told too much":                     {cost: &ruleset.Cost{Response: told}, status: 200, header: say("101"), want: 102},
		"told several":                      {cost: &ruleset.Cost{Response: told}, status: 200, header: say("3", "7", "x"), want: 9},
		"told in a trailer":                 {cost: &ruleset.Cost{Response: told}, status: 200, header: http.Header{http.TrailerPrefix + "X-Cost": {"7"}}, want: 9},
		"told, and the client left":         {cost: &ruleset.Cost{Response: told}, status: statusClientGone, want: 2},
		"told of what does not count":       {cost: &ruleset.Cost{Response: told, CountOn: []int{200}}, status: 404, header: say("7"), want: 0},
		"told of what counts":               {cost: &ruleset.Cost{Response: told, CountOn: []int{200}}, status: 200, header: say("7"), want: 9},
		"a switch of protocols that counts": {cost: &ruleset.Cost{CountOn: []int{101}}, status: 101, want: 2},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := dueFor(tc.cost, reserved, tc.status, tc.header); got != tc.want {
				t.Errorf("%d are due, want %d", got, tc.want)
			}
		})
	}
}

// startSettled has a rule with a cost and a limit of ten.
func startSettled(t *testing.T, upstream string, cost *ruleset.Cost) *counting {
	t.Helper()
	policy := onePolicy()
	policy.Rules[0].Cost = cost
	policy.Rules[0].Limits[0].WindowMicros = (365 * 24 * time.Hour).Microseconds()
	return startCounting(t, upstream, policy)
}

// wantRemaining waits until so many are left, and wants no other number after.
func (c *counting) wantRemaining(t *testing.T, check limiter.Check, want int64) {
	t.Helper()
	got := c.remaining(t, check)
	for waited := time.Now(); got != want && time.Since(waited) < patience; {
		got = c.remaining(t, check)
	}
	if got != want {
		t.Errorf("%d are left, want %d", got, want)
	}
}

var (
	oneRequest  = ruleset.RequestCost{Source: ruleset.CostValue, Value: 1}
	onlyRefused = &ruleset.Cost{Request: oneRequest, CountOn: []int{401}}
	asTold      = &ruleset.Cost{Request: oneRequest, Response: &ruleset.ResponseCost{Header: "x-cost", Max: 8}}
)

// TestStreamIsChargedAtItsEnd has an app tell the cost of a stream in a trailer, which
// it announced or did not.
func TestStreamIsChargedAtItsEnd(t *testing.T) {
	t.Parallel()
	for name, trailer := range map[string]string{"announced": "X-Cost", "unannounced": http.TrailerPrefix + "X-Cost"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			goOn := make(chan struct{})
			app := startApp(t, func(w http.ResponseWriter, _ *http.Request) {
				if name == "announced" {
					w.Header().Set("Trailer", "X-Cost")
				}
				_, _ = io.WriteString(w, "first")
				_ = http.NewResponseController(w).Flush()
				<-goOn
				w.Header().Set(trailer, "5")
			})
			s := startSettled(t, app, asTold)
			conn, reader := s.dial(t)
			fmt.Fprint(conn, "GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n")
			response, err := http.ReadResponse(reader, nil)
			if err != nil {
				t.Fatal(err)
			}
			check := <-s.asked
			if left := s.remaining(t, check); left != 9 {
				t.Errorf("%d are left during the stream, want 9", left)
			}
			close(goOn)
			if _, err := io.ReadAll(response.Body); err != nil {
				t.Fatal(err)
			}
			if got := response.Trailer.Get("X-Cost"); got != "5" {
				t.Errorf("the client's trailer says %q, want 5", got)
			}
			s.wantRemaining(t, check, 4)
		})
	}
}

// TestAClientThatLeavesTriesForNothing holds that a login whose client does not wait
// for the answer counts.
func TestAClientThatLeavesTriesForNothing(t *testing.T) {
	t.Parallel()
	arrived := make(chan struct{}, 1)
	app := startRawApp(t, func(_ net.Conn, reader *bufio.Reader, _ string) {
		arrived <- struct{}{}
		_, _ = reader.ReadByte()
		arrived <- struct{}{}
	})
	s := startSettled(t, app, onlyRefused)
	conn, _ := s.dial(t)
	fmt.Fprint(conn, "GET / HTTP/1.1\r\nHost: a\r\n\r\n")
	<-arrived
	conn.Close()
	<-arrived
	check := <-s.asked
	// The server ends only after the request has.
	if err := s.stop(); err != nil {
		t.Fatal(err)
	}
	s.wantRemaining(t, check, 9)
}

// TestAnAppThatIsGoneCountsNothing holds that 502 is no failed login.
func TestAnAppThatIsGoneCountsNothing(t *testing.T) {
	t.Parallel()
	s := startSettled(t, "127.0.0.1:1", onlyRefused)
	if response, _ := send(t, http.MethodGet, s.url, nil, nil); response.StatusCode != http.StatusBadGateway {
		t.Errorf("the answer is %d, want 502", response.StatusCode)
	}
	s.wantRemaining(t, <-s.asked, 10)
}
