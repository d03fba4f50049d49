// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package match

import (
	"fmt"
	"net/netip"
	"os"
	"strconv"
	"strings"
	"testing"

	"github.com/penstock-dev/penstock/internal/ruleset"
)

// leastAddressCases is how many cases the table of addresses has at least.
const leastAddressCases = 110

// addressCase is a line of testdata/addresses.txt.
type addressCase struct {
	name    string
	setting ruleset.ClientIP
	peer    netip.Addr
	lines   []string
	want    string
}

// TestAddressTable holds each way of naming a client to its one outcome.
func TestAddressTable(t *testing.T) {
	t.Parallel()
	cases := readAddressCases(t)
	if len(cases) < leastAddressCases {
		t.Errorf("the table has %d cases, want at least %d", len(cases), leastAddressCases)
	}
	t.Logf("addresses: %d cases", len(cases))
	for _, tc := range cases {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			source, err := new(Matcher).clientSourceFor(&tc.setting)
			if err != nil {
				t.Fatal(err)
			}
			name := tc.setting.Header
			if name == "" {
				name = "x-forwarded-for"
			}
			asked := &request{view: &fakeView{peer: tc.peer, headers: map[string][]string{name: tc.lines}}}
			got := asked.client(source).network
			if got == "" {
				got = "none"
			}
			if got != tc.want {
				t.Errorf("the client is %s, want %s", got, tc.want)
			}
		})
	}
}

func readAddressCases(t *testing.T) []addressCase {
	t.Helper()
	text, err := os.ReadFile("testdata/addresses.txt")
	if err != nil {
		t.Fatal(err)
	}
	var cases []addressCase
	var setting ruleset.ClientIP
	for number, line := range strings.Split(string(text), "\n") {
		switch {
		case line == "" || line[0] == '#':
		case line[0] == '[':
			setting, err = parseSetting(strings.Trim(line, "[]"))
		default:
			var read addressCase
			read, err = parseAddressCase(line)
			read.setting = setting
			cases = append(cases, read)
		}
		if err != nil {
			t.Fatalf("testdata/addresses.txt, line %d: %v", number+1, err)
		}
	}
	return cases
}

func parseSetting(text string) (ruleset.ClientIP, error) {
	var header, trusted string
	var setting ruleset.ClientIP
	_, err := fmt.Sscan(text, &header, &setting.TrustedHops, &trusted, &setting.IPv6PrefixLength)
	if header != "-" {
		setting.Header, setting.TrustedCIDRs = header, strings.Split(trusted, ",")
	}
	return setting, err
}

func parseAddressCase(line string) (addressCase, error) {
	columns := strings.Split(line, " |")
	if len(columns) != 4 {
		return addressCase{}, fmt.Errorf("%d columns, want 4", len(columns))
	}
	for i := range columns {
		columns[i] = strings.TrimSpace(columns[i])
	}
	read := addressCase{name: columns[0], want: columns[3]}
	var err error
	if columns[1] != "none" {
		if read.peer, err = netip.ParseAddr(columns[1]); err != nil {
			return read, err
		}
	}
	read.lines, err = parseLines(columns[2])
	return read, err
}

// parseLines reads quoted lines. One that says how often it is repeated continues the
// line before it, and the next line continues it.
func parseLines(text string) (lines []string, err error) {
	continues := false
	for text != "" {
		quoted, err := strconv.QuotedPrefix(text)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", text, err)
		}
		line, err := strconv.Unquote(quoted)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", quoted, err)
		}
		text = strings.TrimSpace(text[len(quoted):])
		repeated := strings.HasPrefix(text, "x ")
		if repeated {
			var times string
			times, text, _ = strings.Cut(text[2:], " ")
			count, err := strconv.Atoi(times)
			if err != nil {
				return nil, err
			}
			line = strings.Repeat(line, count)
		}
		if last := len(lines) - 1; last >= 0 && (repeated || continues) {
			lines[last] += line
		} else {
			lines = append(lines, line)
		}
		continues = repeated
	}
	return lines, nil
}
