// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package proxy

import (
	"flag"
	"fmt"
	"maps"
	"net/http"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/dunglas/httpsfv"
	"github.com/google/go-cmp/cmp"

	"github.com/penstock-dev/penstock/internal/limiter"
	"github.com/penstock-dev/penstock/internal/ruleset"
)

// leastHeaderCases is how many cases the table must have.
const leastHeaderCases = 65

const headerTable = "testdata/headers.txt"

var update = flag.Bool("update", false, "write what answers tell into testdata/headers.txt")

// headerCase is a case of the table, see the top of the file.
type headerCase struct {
	name     string
	given    []string
	response ruleset.Response
	decision limiter.Decision
	echoed   bool
	app      http.Header
	want     []string
}

// TestHeaderTable holds what answers tell to the table, and to what the standards say of
// any such field.
func TestHeaderTable(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile(headerTable)
	if err != nil {
		t.Fatal(err)
	}
	head, cases := readHeaderTable(t, string(text))
	for _, c := range cases {
		got := c.answer()
		lines := linesOf(got)
		if *update {
			c.want = lines
		}
		t.Run(strings.ReplaceAll(c.name, "/", " "), func(t *testing.T) {
			if diff := cmp.Diff(c.want, lines); diff != "" {
				t.Errorf("(-want +got; -update writes it):\n%s", diff)
			}
			if err := c.check(got); err != nil {
				t.Error(err)
			}
		})
		head = append(head, "", "case "+c.name)
		head = append(head, c.given...)
		for _, line := range c.want {
			head = append(head, "-> "+line)
		}
	}
	if *update {
		if err := os.WriteFile(headerTable, []byte(strings.Join(head, "\n")+"\n"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if len(cases) < leastHeaderCases {
		t.Errorf("%d cases, want at least %d", len(cases), leastHeaderCases)
	}
}

// answer is the header of the answer.
func (c *headerCase) answer() http.Header {
	header := maps.Clone(c.app)
	setRetryAfter(header, retryAfterSeconds(&c.decision))
	fields := newLimitFields(&c.decision, func(string, string) *ruleset.Response { return &c.response })
	if c.echoed {
		fields.hidePartitions()
	}
	fields.addTo(header)
	return header
}

func linesOf(header http.Header) []string {
	var lines []string
	for _, name := range slices.Sorted(maps.Keys(header)) {
		for _, value := range header[name] {
			lines = append(lines, name+": "+value)
		}
	}
	return lines
}

// check has an independent reader of RFC 9651 read the lists, and wants what the draft
// says of their members, and that nothing tells whom they are about.
func (c *headerCase) check(header http.Header) error {
	retryAfter, _ := strconv.ParseInt(header.Get("Retry-After"), 10, 64)
	for field, number := range map[string]string{fieldRateLimit: "r", fieldRateLimitPolicy: "q"} {
		list, err := httpsfv.UnmarshalList(header[field])
		if err != nil {
			return fmt.Errorf("%s is not a list of RFC 9651: %w", field, err)
		}
		for _, member := range list {
			item, isItem := member.(httpsfv.Item)
			if !isItem {
				return fmt.Errorf("%s: %v is not an item", field, member)
			}
			if err := checkMember(item, number, retryAfter); err != nil {
				return fmt.Errorf("%s: %w", field, err)
			}
		}
	}
	for _, state := range c.decision.Limits {
		if len(state.Identity) > partitionKeyLength && strings.Contains(strings.Join(linesOf(header), "\n"), state.Identity[:partitionKeyLength+1]) {
			return fmt.Errorf("the answer shows more of the identity than %d characters", partitionKeyLength)
		}
	}
	return nil
}

func checkMember(item httpsfv.Item, number string, retryAfter int64) error {
	if _, isString := item.Value.(string); !isString {
		return fmt.Errorf("name %v is not a string", item.Value)
	}
	if n, found := item.Params.Get(number); !found || n.(int64) < 0 || n.(int64) > maxInteger {
		return fmt.Errorf("%v has %s=%v, want a number", item.Value, number, n)
	}
	if window, found := item.Params.Get("w"); found && window.(int64) < 1 {
		return fmt.Errorf("%v has a window of %v", item.Value, window)
	}
	if wait, found := item.Params.Get("t"); found && retryAfter > 0 && wait.(int64) > retryAfter {
		return fmt.Errorf("%v has t=%v, after Retry-After: %d", item.Value, wait, retryAfter)
	}
	if key, found := item.Params.Get("pk"); found {
		if bytes, isBytes := key.([]byte); !isBytes || len(bytes) != 6 {
			return fmt.Errorf("%v has the partition key %v, want six bytes", item.Value, key)
		}
	}
	return nil
}

// readHeaderTable reads the table, and the comments at its top.
func readHeaderTable(t *testing.T, text string) (head []string, cases []*headerCase) {
	t.Helper()
	for line := range strings.SplitSeq(strings.TrimSpace(text), "\n") {
		word, rest, _ := strings.Cut(line, " ")
		switch {
		case word == "case":
			cases = append(cases, &headerCase{name: rest, app: http.Header{}})
		case line == "":
		case len(cases) == 0:
			head = append(head, line)
		case word == "->":
			last := cases[len(cases)-1]
			last.want = append(last.want, rest)
		default:
			last := cases[len(cases)-1]
			last.given = append(last.given, line)
			if err := last.read(word, rest); err != nil {
				t.Fatalf("%s, case %s: %q: %v", headerTable, last.name, line, err)
			}
		}
	}
	return head, cases
}

func (c *headerCase) read(word, rest string) error {
	switch word {
	case "fields":
		for family := range strings.FieldsSeq(rest) {
			if family == "omit" {
				c.response.OmitOnAllowed = true
				continue
			}
			c.response.Headers = append(c.response.Headers, ruleset.HeaderFamily(family))
		}
	case "decision":
		for said := range strings.FieldsSeq(rest) {
			if err := c.readDecision(said); err != nil {
				return err
			}
		}
	case "limit":
		state, err := readLimitState(strings.Fields(rest))
		c.decision.Limits = append(c.decision.Limits, state)
		return err
	case "app":
		name, value, _ := strings.Cut(rest, ": ")
		c.app[name] = append(c.app[name], value)
	default:
		return fmt.Errorf("%q begins no line", word)
	}
	return nil
}

func (c *headerCase) readDecision(said string) error {
	switch said {
	case "allowed":
		c.decision.Allowed = true
	case "never":
		c.decision.Never = true
	case "echoed":
		c.echoed = true
	case "refused":
	default:
		var err error
		c.decision.RetryAfter, err = time.ParseDuration(said)
		return err
	}
	return nil
}

func readLimitState(words []string) (limiter.LimitState, error) {
	state := limiter.LimitState{Kind: "RateLimitPolicy", Allowed: true}
	name, cluster := strings.CutPrefix(words[0], "cluster:")
	if cluster {
		state.Kind = "ClusterRateLimitPolicy"
	}
	parts := strings.Split(name, "/")
	state.Policy, state.Rule, state.Limit = parts[0], parts[1], parts[2]
	for _, word := range words[1:] {
		key, value, _ := strings.Cut(word, "=")
		if err := setLimitState(&state, key, value); err != nil {
			return state, err
		}
	}
	if state.Burst == 0 {
		state.Burst = state.Requests
	}
	return state, nil
}

func setLimitState(state *limiter.LimitState, key, value string) (err error) {
	switch key {
	case "q":
		state.Requests, err = strconv.ParseInt(value, 10, 64)
	case "burst":
		state.Burst, err = strconv.ParseInt(value, 10, 64)
	case "r":
		state.Remaining, err = strconv.ParseInt(value, 10, 64)
	case "w":
		state.Window, err = time.ParseDuration(value)
	case "calendar":
		state.Calendar = &ruleset.Calendar{Period: ruleset.CalendarPeriod(value), TimeZone: "UTC"}
	case "reset":
		state.ResetAfter, err = time.ParseDuration(value)
	case "next":
		state.NextAfter, err = time.ParseDuration(value)
	case "id":
		state.Identity = value
	case "refuses":
		state.Allowed = false
	case "shadow":
		state.Shadow = true
	case "local":
		state.Source = limiter.Local
	case "uncounted":
		state.Source = limiter.StoreAllowed
	case "denied":
		state.Allowed, state.Source = false, limiter.StoreDenied
	default:
		return fmt.Errorf("%q is nothing of a limit", key)
	}
	return err
}
