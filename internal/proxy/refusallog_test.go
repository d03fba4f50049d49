// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package proxy

import (
	"bytes"
	"encoding/json"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// lines reads what was logged, without times.
func lines(t *testing.T, logs *bytes.Buffer) []map[string]any {
	t.Helper()
	var all []map[string]any
	for line := range strings.Lines(logs.String()) {
		var fields map[string]any
		if err := json.Unmarshal([]byte(line), &fields); err != nil {
			t.Fatal(err)
		}
		delete(fields, "time")
		all = append(all, fields)
	}
	return all
}

func TestRefusalLogIsSampled(t *testing.T) {
	t.Parallel()
	var logs bytes.Buffer
	now := time.Unix(1000, 0)
	log := newRefusalLog(slog.New(slog.NewJSONHandler(&logs, nil)), 2, func() time.Time { return now })
	writer := &answerWriter{ResponseWriter: httptest.NewRecorder(), status: http.StatusTooManyRequests}
	writer.Header().Set("Retry-After", "30")
	tell := func(times int) {
		for range times {
			log.tell(refusedBy{policy: "web", rule: "all", limit: "minute", identity: "AbCd+/12"}, outcomeDenied, "GET", writer)
		}
	}
	tell(5)
	now = now.Add(500 * time.Millisecond)
	tell(2)
	now = now.Add(time.Hour)
	tell(3)
	want := map[string]any{
		"level": "INFO", "msg": "Refused a request", "policy": "web", "rule": "all", "limit": "minute", "identity": "AbCd+/12",
		"outcome": "denied", "status": 429.0, "method": "GET", "retryAfter": "30",
	}
	got := lines(t, &logs)
	var omitted []any
	for _, line := range got {
		omitted = append(omitted, line["omitted"])
		delete(line, "omitted")
		if diff := cmp.Diff(want, line); diff != "" {
			t.Errorf("line (-want +got):\n%s", diff)
		}
	}
	if diff := cmp.Diff([]any{nil, nil, 3.0, 1.0, nil}, omitted); diff != "" {
		t.Errorf("left out before each line (-want +got):\n%s", diff)
	}
	if left := log.omissions(); left != 5 {
		t.Errorf("%d were left out in all, want 5", left)
	}
}

func TestRefusalLogIsOffWhereItsLevelIs(t *testing.T) {
	t.Parallel()
	log := newRefusalLog(slog.New(slog.NewJSONHandler(&bytes.Buffer{}, &slog.HandlerOptions{Level: slog.LevelWarn})), 1, time.Now)
	for range 5 {
		log.tell(refusedBy{policy: "web"}, outcomeDenied, "GET", &answerWriter{ResponseWriter: httptest.NewRecorder()})
	}
	if left := log.omissions(); left != 0 {
		t.Errorf("%d lines are told to be left out of a log that has none", left)
	}
}

func TestRefusalLogCanBeOff(t *testing.T) {
	t.Parallel()
	var logs bytes.Buffer
	log := newRefusalLog(slog.New(slog.NewJSONHandler(&logs, nil)), 0, time.Now)
	log.tell(refusedBy{policy: "web"}, outcomeDenied, "GET", &answerWriter{ResponseWriter: httptest.NewRecorder()})
	if logs.Len() > 0 || log.omissions() != 0 {
		t.Errorf("logged %q, left out %d", logs.String(), log.omissions())
	}
}

func TestRefusalLogCutsMethods(t *testing.T) {
	t.Parallel()
	var logs bytes.Buffer
	log := newRefusalLog(slog.New(slog.NewJSONHandler(&logs, nil)), 1, time.Now)
	log.tell(refusedBy{}, outcomeDenied, strings.Repeat("M", 1000), &answerWriter{ResponseWriter: httptest.NewRecorder()})
	if method := lines(t, &logs)[0]["method"]; method != strings.Repeat("M", longestMethod) {
		t.Errorf("method is %v", method)
	}
}
