// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package expression

import (
	"errors"
	"math"
	"os"
	"strings"
	"testing"
)

func mustCompile(t testing.TB, kind Kind, text string) *Program {
	t.Helper()
	program, err := Compile(kind, text)
	if err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	return program
}

// TestConditions has expressions that must hold of an ordinary request.
func TestConditions(t *testing.T) {
	t.Parallel()
	for _, text := range []string{
		"request.method == 'GET' && request.scheme == 'http' && request.host.endsWith('.example.com')",
		"request.path.startsWith('/users/') && request.pathParams['id'] == '7' && request.pathParams.other == ''",
		"request.headers['x-plan'] == 'pro'",
		"request.headers['X-Plan'] == 'pro'",
		"'X-PLAN' in request.headers && !('x-other' in request.headers)",
		"request.headers['x-other'] == ''",
		"has(request.headers.accept) == false",
		"'x-empty' in request.headers && request.headers['x-empty'] == ''",
		"request.headers['x-many'].split(',') == ['a', 'b']",
		"request.headers['x-plan'] in ['pro', 'enterprise']",
		"int(request.headers['x-number']) > 11",
		"request.query['q'] == 'é' && request.query.q.size() == 1",
		"request.clientIP.inCIDR('10.0.0.0/8') && !request.clientIP.inCIDR('2001:db8::/32')",
		"'::ffff:10.0.0.1'.inCIDR('10.0.0.0/8')",
		"['10.0.0.0/8', '192.0.2.0/24'].exists(n, request.clientIP.inCIDR(n))",
		"request.jwt['idp']['sub'] == 'u1' && request.jwt.idp.level == 3 && request.jwt.idp.level >= 2.5",
		"request.jwt.idp.admin",
		"'writer' in request.jwt.idp.roles && request.jwt.idp.roles.exists(r, r == 'reader')",
		"request.jwt.idp.org.name == 'acme' && request.jwt.idp.org.other == ''",
		"request.jwt.idp.none == null",
		"request.jwt['other']['sub'] == '' && !('sub' in request.jwt['other'])",
		"has(request.jwt.idp.sub) && !has(request.jwt.idp.email) && 'idp' in request.jwt",
		// Nobody verified a token of the other.
		"has(request.jwt.idp) && !has(request.jwt.other) && !('other' in request.jwt)",
		"request.path.matches('^/users/[0-9]+$')",
		"matches(request.path, 'users')",
		"'AbÉ'.lowerAscii() == 'abÉ' && 'abé'.upperAscii() == 'ABé' && ' a '.trim() == 'a'",
		"'éa-b'.indexOf('-') == 2 && 'ab'.indexOf('c') == -1 && 'ab'.indexOf('') == 0",
		"'éab'.substring(1) == 'ab' && 'éab'.substring(0, 1) == 'é' && 'ab'.substring(2) == '' && ''.substring(0, 0) == ''",
		"request.method == 'GET' ? true : false",
		// What fails does not matter where the rest decides.
		"int(request.headers['x-plan']) == 1 || true",
	} {
		t.Run(text, func(t *testing.T) {
			t.Parallel()
			holds, err := mustCompile(t, Condition, text).Holds(ordinary())
			if err != nil || !holds {
				t.Errorf("got %v, %v, want it to hold", holds, err)
			}
		})
	}
}

func TestFailures(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		text, want string
		reason     Reason
	}{
		"a word is no number":       {"int(request.headers['x-plan']) > 1", "type conversion error", Conversion},
		"no address":                {"request.headers['x-plan'].inCIDR('10.0.0.0/8')", "no IP address", Address},
		"no CIDR":                   {"request.clientIP.inCIDR(request.headers['x-plan'])", "no CIDR", Address},
		"a value that is too long":  {"request.headers['x-long'] == 'a'", "has 8193 bytes", TooLarge},
		"a claim of another type":   {"request.jwt.idp.sub", "no bool", Type},
		"outside of a text":         {"request.headers['x-plan'].substring(1, 9) == 'ro'", "ends before", Outside},
		"substring backwards":       {"request.headers['x-plan'].substring(2, 1) == 'ro'", "from 2 to 1", Outside},
		"all claims":                {"size(request.jwt.idp) > 1", "no such overload", Type},
		"going through claims":      {"request.jwt.idp.all(c, c != '')", "iterable", Type},
		"a long match":              {"request.headers['x-8k'].matches('(a|b|c){3}')", "too long", TooLong},
		"a long loop":               {"[1,2,3,4,5,6,7,8,9,10].all(a, [1,2,3,4,5,6,7,8,9,10].all(b, [1,2,3,4,5,6,7,8,9,10].all(c, a+b+c > 0)))", "cost limit", TooLong},
		"many functions of much":    {"request.headers['x-8k'].lowerAscii().upperAscii().lowerAscii() == 'a'", "cost limit", TooLong},
		"index outside a list":      {"request.headers['x-many'].split(',')[5] == 'a'", "out of bounds", Outside},
		"a number with many digits": {"int('99999999999999999999' + request.query['items']) > 1", "type conversion error", Conversion},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := mustCompile(t, Condition, tc.text).Holds(ordinary())
			if err == nil || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("error %v, want one that says %q", err, tc.want)
			}
			if reason := ReasonOf(err); reason != tc.reason {
				t.Errorf("reason %s of %v, want %s", reason, err, tc.reason)
			}
		})
	}
}

// TestAbsentClaims holds docs/semantics.md to what absent claims give: where nobody
// verified a token, and in a token without these claims.
func TestAbsentClaims(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("../../../docs/semantics.md")
	if err != nil {
		t.Fatal(err)
	}
	_, table, found := strings.Cut(string(text), "| with an absent claim | it |\n|---|---|\n")
	if !found {
		t.Fatal("docs/semantics.md has no table of absent claims")
	}
	table, _, _ = strings.Cut(table, "\n\n")
	requests := map[string]map[string]map[string]any{"no token": nil, "no such claims": {"idp": {"sub": "u1"}}}
	rows := 0
	for row := range strings.Lines(table) {
		cells := strings.Split(strings.Trim(row, "|\n"), " | ")
		want := strings.Fields(cells[1])[0]
		for _, quoted := range strings.Split(strings.Trim(cells[0], " "), ", `") {
			rows++
			expression := strings.Trim(quoted, "`")
			for name, claims := range requests {
				holds, err := mustCompile(t, Condition, expression).Holds(&fakeRequest{claims: claims})
				got := map[bool]string{true: "holds", false: "doesn't"}[holds]
				if err != nil {
					got = "fails"
				}
				if strings.TrimRight(want, ",:") != got {
					t.Errorf("%s, %s: it %s (%v), and the table says %q", expression, name, got, err, cells[1])
				}
			}
		}
	}
	if rows < 15 {
		t.Errorf("%d expressions were found in the table, want at least 15", rows)
	}
}

func TestReasonsOfCosts(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]Reason{
		"request.jwt.idp.share":                              Type,
		"request.jwt.idp.sub":                                Type,
		"9223372036854775807 + int(request.query['items'])":  Arithmetic,
		"1 / int(request.query['items'].substring(1) + '0')": Arithmetic,
		"1 % int(request.query['items'].substring(1) + '0')": Arithmetic,
		"[1, 2][int(request.query['items'])]":                Outside,
		"{'a': 1}[request.query['items']]":                   Absent,
		"int(request.jwt.idp.other.level)":                   Absent,
		"int(request.query['other'])":                        Conversion,
	} {
		_, err := mustCompile(t, Cost, text).Number(ordinary())
		if reason := ReasonOf(err); err == nil || reason != want {
			t.Errorf("%s: reason %s of %v, want %s", text, reason, err, want)
		}
	}
	if reason := ReasonOf(errors.New("type conversion error, as a client wrote it")); reason != Other {
		t.Errorf("an error of another kind has the reason %s", reason)
	}
}

func TestLookupsAreBounded(t *testing.T) {
	t.Parallel()
	program := mustCompile(t, Condition, "request.query['a'] + request.query['b'] + request.query['c'] == ''")
	if _, err := program.Holds(&fakeRequest{read: maxRead/2 - 1}); err != nil {
		t.Errorf("two and a half reads: %v", err)
	}
	if _, err := program.Holds(&fakeRequest{read: maxRead/2 + 1}); err == nil || !strings.Contains(err.Error(), "reads more than") {
		t.Errorf("error %v, want one that says that it reads too much", err)
	}
}

func TestKeys(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		text, want string
		fails      bool
	}{
		"header":              {text: "request.headers['x-plan'].upperAscii()", want: "PRO"},
		"absent":              {text: "request.headers['x-other']"},
		"claim":               {text: "request.jwt['idp']['sub']", want: "u1"},
		"claim of a number":   {text: "request.jwt['idp']['level']", fails: true},
		"number as text":      {text: "string(request.jwt['idp']['level'])", want: "3"},
		"first of a path":     {text: "request.path.split('/')[1]", want: "users"},
		"one or else another": {text: "'x-other' in request.headers ? request.headers['x-other'] : request.clientIP", want: "10.1.2.3"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, err := mustCompile(t, Key, tc.text).Text(ordinary())
			if got != tc.want || (err != nil) != tc.fails {
				t.Errorf("got %q, %v, want %q", got, err, tc.want)
			}
		})
	}
}

func TestCosts(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		text  string
		want  int64
		fails bool
	}{
		"int":                {text: "int(request.query['items']) * 2", want: 14},
		"uint":               {text: "uint(request.query['items'])", want: 7},
		"uint of many":       {text: "18446744073709551615u", want: math.MaxInt64},
		"whole double":       {text: "request.jwt.idp.level", want: 3},
		"huge double":        {text: "1e300", want: math.MaxInt64},
		"double below":       {text: "-1e300", want: math.MinInt64},
		"fraction":           {text: "request.jwt.idp.share", fails: true},
		"not a number":       {text: "0.0 / 0.0", fails: true},
		"text":               {text: "request.jwt.idp.sub", fails: true},
		"overflow":           {text: "9223372036854775807 + int(request.query['items'])", fails: true},
		"no number":          {text: "int(request.query['other'])", fails: true},
		"division by nought": {text: "1 / int(request.headers['x-number'].substring(2) + '0')", fails: true},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, err := mustCompile(t, Cost, tc.text).Number(ordinary())
			if got != tc.want || (err != nil) != tc.fails {
				t.Errorf("got %d, %v, want %d", got, err, tc.want)
			}
		})
	}
}
