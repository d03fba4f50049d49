// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package proxy

import (
	"flag"
	"net/http"
	"os"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/penstock-dev/penstock/test/proxyrun"
)

var (
	differentialSeed     = flag.Uint64("differential.seed", 1, "seed of the random requests")
	differentialRequests = flag.Uint64("differential.requests", 10_000, "how many random requests are compared")
)

// change is a field that the sidecar is documented to change, and how what came
// directly is made into what is to come through it.
type change struct {
	field, side string
	apply       func(direct, through http.Header, e *exchange)
}

const (
	toApp    = "request"
	toClient = "answer"
)

// changes is the list of docs/operating.md: what is not in it must be the same.
var changes = []change{
	{"X-Forwarded-For", toApp, func(direct, _ http.Header, _ *exchange) { appendPeer(direct, "127.0.0.1") }},
	{"Connection", toApp, dropFrom("Connection")},
	{"Connection", toClient, dropFrom("Connection")},
	{"Content-Length", toApp, func(direct, through http.Header, _ *exchange) { dropZero(direct); dropZero(through) }},
	{"Date", toClient, func(direct, through http.Header, _ *exchange) {
		if direct.Values("Date") == nil {
			through.Del("Date")
		}
	}},
	{"Content-Type", toClient, func(direct, _ http.Header, e *exchange) {
		if e.answer.status == http.StatusNotModified {
			direct.Del("Content-Type")
		}
	}},
	{"Content-Length", toClient, func(direct, through http.Header, e *exchange) {
		dropZero(direct)
		dropZero(through)
		if e.answer.status == http.StatusNotModified {
			direct.Del("Content-Length")
		}
	}},
	{"User-Agent", toApp, func(direct, _ http.Header, _ *exchange) { keepFirst(direct, "User-Agent") }},
}

func dropFrom(name string) func(direct, through http.Header, e *exchange) {
	return func(direct, through http.Header, _ *exchange) {
		direct.Del(name)
		through.Del(name)
	}
}

func dropZero(fields http.Header) {
	if fields.Get("Content-Length") == "0" {
		fields.Del("Content-Length")
	}
}

// keepFirst keeps the first value, if there is something in it.
func keepFirst(fields http.Header, name string) {
	if first := fields.Get(name); first != "" {
		fields.Set(name, first)
	} else {
		fields.Del(name)
	}
}

func appendPeer(fields http.Header, peer string) {
	values := fields.Values("X-Forwarded-For")
	if last := len(values) - 1; last >= 0 && values[last] != "" {
		values[last] += ", " + peer
		return
	} else if last >= 0 {
		values = values[:last]
	}
	fields["X-Forwarded-For"] = append(values, peer)
}

// TestSameAnswersDirectAndThroughTheSidecar sends the same random requests to an app
// and to the sidecar in front of it, without rules: both the app and the client must
// see the same, but for the documented changes.
func TestSameAnswersDirectAndThroughTheSidecar(t *testing.T) {
	t.Parallel()
	direct, behind := startSameApp(t, *differentialSeed), startSameApp(t, *differentialSeed)
	sidecar := proxyrun.StartSidecar(t, behind.address(), nil)
	before := sidecar.Idle()
	t.Run("connections", func(t *testing.T) {
		const connections = 8
		for first := range uint64(connections) {
			t.Run(strconv.FormatUint(first, 10), func(t *testing.T) {
				t.Parallel()
				straight, proxied := &caller{address: direct.address()}, &caller{address: sidecar.Address}
				defer straight.close()
				defer proxied.close()
				for number := first; number < *differentialRequests; number += connections {
					e := newExchange(*differentialSeed, number)
					want, err := straight.send(&e)
					if err != nil {
						t.Fatalf("number %d, directly: %v\n%s", number, err, e.head())
					}
					got, err := proxied.send(&e)
					if err != nil {
						t.Fatalf("number %d, through the sidecar: %v\n%s", number, err, e.head())
					}
					compare(t, toClient, &e, want, got)
					compare(t, toApp, &e, direct.saw(number), behind.saw(number))
					if t.Failed() {
						t.Fatalf("number %d of seed %d", number, *differentialSeed)
					}
				}
			})
		}
	})
	sidecar.WantIdle(before)
}

// compare fails unless two messages are the same after the documented changes.
func compare(t *testing.T, side string, e *exchange, direct, through message) {
	t.Helper()
	for _, c := range changes {
		if c.side == side {
			c.apply(direct.Fields, through.Fields, e)
		}
	}
	if diff := cmp.Diff(direct, through, cmpopts.EquateEmpty()); diff != "" {
		t.Errorf("what the %s shows (-directly +through the sidecar):\n%s\nrequest:\n%.1500s\nanswer:\n%.1500s", side, diff, e.head(), e.answer.text(e.method))
	}
}

// TestChangesAreDocumented holds docs/operating.md to the same list.
func TestChangesAreDocumented(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("../../docs/operating.md")
	if err != nil {
		t.Fatal(err)
	}
	_, section, found := strings.Cut(string(text), "## What the sidecar changes\n")
	if !found {
		t.Fatal("docs/operating.md has no section \"What the sidecar changes\"")
	}
	section, _, _ = strings.Cut(section, "\n## ")
	for _, c := range changes {
		row := "| `" + c.field + "` | " + c.side + " |"
		if !strings.Contains(section, row) {
			t.Errorf("docs/operating.md lacks a row that begins %q", row)
		}
	}
}
