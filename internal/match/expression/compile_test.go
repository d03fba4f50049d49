// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package expression

import (
	"runtime"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestCompileSaysWhatIsWrongWhereAndHowToMendIt(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		kind       Kind
		text, want string
	}{
		"no expression":         {Condition, "request.method ==", "at character 18: Syntax error"},
		"second line":           {Condition, "true &&\n  request.size == 1", "at line 2, character"},
		"unknown of a request":  {Condition, "request.size == 1", "after request there is .method, .path"},
		"unknown variable":      {Condition, "method == 'GET'", "at character 1: undeclared reference to 'method': did you mean request.method? all that is known of a request begins with request: .method, .path, "},
		"another spelling":      {Condition, "client_ip == '10.0.0.1'", "did you mean request.clientIP?"},
		"one of several":        {Condition, "header['x'] == '1'", "did you mean request.headers?"},
		"unknown to everybody":  {Condition, "plan == 'pro'", "undeclared reference to 'plan': all that is known of a request begins with request: .method"},
		"unknown function":      {Condition, "request.path.replace('a', request.path) == ''", "the functions are size, contains"},
		"not offered of time":   {Condition, "timestamp('2026-01-01T00:00:00Z') < timestamp(request.path)", "undeclared reference to 'timestamp'"},
		"a long name":           {Condition, strings.Repeat("a", 1000), "aaa…: all that is known"},
		"types":                 {Condition, "request.method == 1", "at character 16: found no matching overload"},
		"a text for a bool":     {Condition, "request.method", "yields string: write one that yields a bool"},
		"a bool for a text":     {Key, "request.method == 'GET'", "yields bool: write one that yields a string"},
		"a text for a number":   {Cost, "request.query['items']", "yields string: write one that yields a number"},
		"all headers":           {Condition, "request.headers.exists(h, h == 'a')", "request.headers is taken as a whole"},
		"number of headers":     {Condition, "request.headers.size() > 3", "request.headers is taken as a whole"},
		"all parameters":        {Condition, "request.query == {}", "request.query is taken as a whole"},
		"all of a comprehended": {Condition, "[request.query].exists(q, q['a'] == '')", "request.query is taken as a whole"},
		"all tokens":            {Condition, "size(request.jwt) == 0", "request.jwt is taken as a whole"},
		"a pattern of a client": {Condition, "request.path.matches(request.headers['x'])", "pattern that is not written out"},
		"a bad pattern":         {Condition, "request.path.matches('(')", "missing closing )"},
		"a bomb of a pattern":   {Condition, "request.path.matches('(a{100}){100}')", "RE2"},
		"a large pattern":       {Condition, "request.path.matches('[ab]{900}')", "instructions, at most"},
		"no CIDR":               {Condition, "request.clientIP.inCIDR('10.0.0.0')", "at character 25: \"10.0.0.0\" is not a CIDR"},
		"too long":              {Condition, "request.path == '" + strings.Repeat("a", maxText) + "'", "exceeds"},
		"too deep":              {Condition, strings.Repeat("(", 100) + "true" + strings.Repeat(")", 100), "simpler"},
		"constants that fail":   {Condition, "int('a') == 1", "correct it"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := Compile(tc.kind, tc.text)
			if err == nil || !strings.Contains(err.Error(), tc.want) {
				t.Fatalf("error %v, want one that says %q", err, tc.want)
			}
			if strings.Contains(err.Error(), "container") {
				t.Errorf("the message speaks of a container, which nobody wrote: %v", err)
			}
			if strings.Contains(err.Error(), "\n") || !strings.Contains(err.Error(), ": ") {
				t.Errorf("the message has no mend or several lines: %v", err)
			}
		})
	}
}

func TestLooksAtPaths(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]bool{
		"request.path == '/'":                           true,
		"request.method == 'GET' || request.path != ''": true,
		"request.pathParams['id'] == '7'":               true,
		"request.headers['path'] == '/'":                false,
		"'request.path' == request.host":                false,
		"['a'].exists(path, path == request.host)":      false,
	} {
		if got := mustCompile(t, Condition, text).LooksAtPaths(); got != want {
			t.Errorf("%s looks at paths: %v, want %v", text, got, want)
		}
	}
}

func TestLooksAtClients(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]bool{
		"request.clientIP == '192.0.2.7'":                                  true,
		"request.method == 'GET' || request.clientIP.inCIDR('10.0.0.0/8')": true,
		"request.headers['clientIP'] == ''":                                false,
		"'request.clientIP' == request.host":                               false,
	} {
		if got := mustCompile(t, Condition, text).LooksAtClients(); got != want {
			t.Errorf("%s looks at clients: %v, want %v", text, got, want)
		}
	}
}

// TestProviders has the providers that expressions name, each once.
func TestProviders(t *testing.T) {
	t.Parallel()
	for text, want := range map[string][]string{
		"request.jwt['a'].sub == request.jwt.b['sub']":                                 {"a", "b"},
		"'a' in request.jwt && 'role' in request.jwt['a'].roles":                       {"a"},
		"has(request.jwt.a) || has(request.jwt.a.sub)":                                 {"a"},
		"['x'].exists(x, request.jwt['a'][x] == '')":                                   {"a"},
		"request.jwt[request.headers['x-issuer']].sub == ''":                           nil,
		"request.headers['a'] in request.jwt":                                          nil,
		"request.headers['jwt'] == request.query.jwt && 'request.jwt.a' == 'idp'":      nil,
		"['x'].exists(jwt, jwt == request.jwt[request.method + 'a'].sub)":              nil,
		"{'jwt': request.jwt['a']}['jwt'].sub == '' && {'idp': 'b'}['idp'] == 'other'": {"a"},
	} {
		if diff := cmp.Diff(want, mustCompile(t, Condition, text).Providers()); diff != "" {
			t.Errorf("providers of %s (-want +got):\n%s", text, diff)
		}
	}
}

// TestProgramsAreShared has equal texts share a program while one uses it.
func TestProgramsAreShared(t *testing.T) {
	t.Parallel()
	const text = "request.headers['x-shared'] == 'program'"
	first := mustCompile(t, Condition, text)
	if mustCompile(t, Condition, text) != first {
		t.Error("an equal text was compiled again")
	}
	if mustCompile(t, Key, "request.headers['x-shared']") == first {
		t.Error("another text shares the program")
	}
	runtime.KeepAlive(first)
	isKnown := func() bool {
		shared.Lock()
		defer shared.Unlock()
		_, known := shared.programs[source{kind: Condition, text: text}]
		return known
	}
	for range 100 {
		if !isKnown() {
			return
		}
		runtime.GC()
		runtime.Gosched()
	}
	t.Error("a program that nobody uses is still remembered after 100 collections")
}
