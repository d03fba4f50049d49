// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package match

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/penstock-dev/penstock/internal/ruleset"
)

// TestEverySpellingMeetsTheRule has every spelling of a path that was ever used
// to slip past a limit: each must have the plain path among its readings.
func TestEverySpellingMeetsTheRule(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		target   string
		matching ruleset.PathMatching
		want     string
	}{
		"plain":                         {target: "/api/login", want: "/api/login"},
		"query":                         {target: "/api/login?a=/../x", want: "/api/login"},
		"absolute form":                 {target: "http://a.example/api/login?x", want: "/api/login"},
		"doubled slash in front":        {target: "//api/login", want: "/api/login"},
		"doubled slash inside":          {target: "/api//login", want: "/api/login"},
		"many slashes":                  {target: "///api////login///", want: "/api/login"},
		"single dot":                    {target: "/./api/./login/.", want: "/api/login"},
		"double dots":                   {target: "/x/../api/y/../login", want: "/api/login"},
		"double dots above the root":    {target: "/../../api/login", want: "/api/login"},
		"escaped dots":                  {target: "/x/%2e%2E/api/%2e/login", want: "/api/login"},
		"half escaped dots":             {target: "/x/.%2e/api/login", want: "/api/login"},
		"escaped letters":               {target: "/%61pi/%6Cogin", want: "/api/login"},
		"escaped slash":                 {target: "/api%2Flogin", want: "/api/login"},
		"escaped slash in lower case":   {target: "/api%2flogin", want: "/api/login"},
		"escaped slash and dots":        {target: "/x%2f..%2fapi/login", want: "/api/login"},
		"escaped slash, escaped dots":   {target: "/x%2f%2e%2e%2fapi%2flogin", want: "/api/login"},
		"backslash":                     {target: "/api\\login", want: "/api/login"},
		"backslash in front":            {target: "/\\api\\login", want: "/api/login"},
		"escaped backslash":             {target: "/api%5clogin", want: "/api/login"},
		"backslash and dots":            {target: "/x\\..\\api\\login", want: "/api/login"},
		"upper case":                    {target: "/API/Login", want: "/api/login"},
		"escaped upper case":            {target: "/%41PI/login", want: "/api/login"},
		"path parameter":                {target: "/api/login;x=1", want: "/api/login"},
		"path parameter inside":         {target: "/api;v=2/login;jsessionid=3", want: "/api/login"},
		"path parameter on dots":        {target: "/x/..;/api/login", want: "/api/login"},
		"path parameter alone":          {target: "/;/api/;a/login", want: "/api/login"},
		"escaped semicolon":             {target: "/api/login%3bx=1", want: "/api/login"},
		"trailing slash":                {target: "/api/login/", want: "/api/login"},
		"trailing escaped slash":        {target: "/api/login%2f", want: "/api/login"},
		"dots before empty segments":    {target: "/api/x//../login", want: "/api/login"},
		"dots resolved before collapse": {target: "/api//../login", want: "/api/login"},
		// What Node's new URL(target, base) makes of it, and decodeURIComponent.
		"escaped dots after an empty segment":    {target: "/api//%2e%2e/login", want: "/api/login"},
		"escaped dots after parameters":          {target: "/api/..;/%2e%2e/login", want: "/api/login"},
		"backslashes after an empty segment":     {target: "/api//..\\login", want: "/api/login"},
		"dots resolved, then slash decoded":      {target: "/x%2fy/%2e%2e/api%2flogin", want: "/api/login"},
		"dots resolved, decoded, resolved again": {target: "/x%2fy/../api/z%2f..%2flogin", want: "/api/login"},
		"host in front":                          {target: "//host/api/login", want: "/api/login"},
		"host behind a backslash":                {target: "/\\host\\api/login", want: "/api/login"},
		"host behind many slashes":               {target: "////host/api/login", want: "/api/login"},
		// What file servers make of it, to which a backslash is a letter.
		"backslash that is no slash":         {target: "/x%5cy%2f../api/login", want: "/api/login"},
		"parameters that are none, and dots": {target: "/api/..;//../login", want: "/api/login"},
		// What WSGI makes of it: decoded, with dots left alone.
		"decoded, dots unresolved":       {target: "/api%2flogin/../../x", want: "/api/login/../../x"},
		"escaped sub-delimiter":          {target: "/%40me", want: "/@me"},
		"letter beyond ASCII, its case":  {target: "/%C3%89t%C3%A9", want: "/%C3%89t%C3%89"},
		"letter beyond ASCII, as a byte": {target: "/\xc3\xa9", want: "/%C3%89"},
		"kelvin sign":                    {target: "/to%E2%84%AAen", want: "/token"},
		"long s":                         {target: "/%C5%BFearch", want: "/search"},
		"fragment is part of the name":   {target: "/api/login#x", want: "/api/login%23x"},
		"double escape is another path":  {target: "/%256cogin", want: "/%256cogin"},
		"strict: doubled slash":          {target: "//api//login", matching: ruleset.PathStrict, want: "/api/login"},
		"strict: escaped dots":           {target: "/x/%2e%2e/api/login", matching: ruleset.PathStrict, want: "/api/login"},
		"strict: backslash":              {target: "/api\\login", matching: ruleset.PathStrict, want: "/api/login"},
		"strict: escaped letters":        {target: "/%61pi/login", matching: ruleset.PathStrict, want: "/api/login"},
		"strict: case stays":             {target: "/API", matching: ruleset.PathStrict, want: "/API"},
		"strict: parameters stay":        {target: "/a;v=1", matching: ruleset.PathStrict, want: "/a;v=1"},
		"strict: trailing slash stays":   {target: "/a/", matching: ruleset.PathStrict, want: "/a/"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var read readings
			if err := read.readTarget(tc.target, tc.matching); err != nil {
				t.Fatalf("readTarget(%q) = %v", tc.target, err)
			}
			if !slices.Contains(read.all(), tc.want) {
				t.Errorf("readings of %q are %q, want %q among them", tc.target, read.all(), tc.want)
			}
		})
	}
}

func TestReadingsAreFewAndDistinct(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		path     string
		matching ruleset.PathMatching
		want     []string
	}{
		"plain":                     {path: "/api/login", want: []string{"/api/login"}},
		"root":                      {path: "/", want: []string{"/"}},
		"asterisk":                  {path: "*", want: []string{"*"}},
		"escaped letter":            {path: "/%61", want: []string{"/a"}},
		"escaped slash":             {path: "/a%2fb", want: []string{"/a/b", "/a%2Fb"}},
		"escaped dots":              {path: "/a/%2e%2e/b", want: []string{"/b", "/a/../b"}},
		"dots behind escaped slash": {path: "/a%2f../b/%2e%2e/c", want: []string{"/c", "/a/../b/../c", "/a%2F../c", "/a%2F../b/../c", "/a/../c"}},
		"four that differ":          {path: "/w/x%2fy/%2e%2e/z", want: []string{"/w/x/z", "/w/x/y/../z", "/w/z", "/w/x%2Fy/../z"}},
		"strict keeps the spaces":   {path: "/A%20b;c/", matching: ruleset.PathStrict, want: []string{"/A%20b;c/"}},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			read, err := readPath(tc.path, tc.matching)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tc.want, read.all()); diff != "" {
				t.Errorf("readings of %q (-want +got):\n%s", tc.path, diff)
			}
		})
	}
}

func TestPathWithoutReading(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("/a", maxOddPathBytes/2)
	for _, path := range []string{"/%", "/%4", "/%zz", "/a%2", "/%00", "/a%00b", "/a\x00", long + "/../b"} {
		if _, err := readPath(path, ruleset.PathLoose); !errors.Is(err, ErrBadPath) {
			t.Errorf("readPath(%q) = %v, want ErrBadPath", path, err)
		}
	}
}

func TestLongPlainPathIsRead(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("/a", maxOddPathBytes)
	if read, err := readPath(long, ruleset.PathLoose); err != nil || len(read.all()) != 1 {
		t.Errorf("a plain path of %d bytes: %d readings, %v", len(long), read.count, err)
	}
}

func TestCanonicalPattern(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		value    string
		matching ruleset.PathMatching
		want     string
		wantErr  string
	}{
		"plain":                 {value: "/api/login", want: "/api/login"},
		"root":                  {value: "/", want: "/"},
		"case folded":           {value: "/API", want: "/api"},
		"case kept":             {value: "/API", matching: ruleset.PathStrict, want: "/API"},
		"slash dropped":         {value: "/api/", want: "/api"},
		"slash kept":            {value: "/api/", matching: ruleset.PathStrict, want: "/api/"},
		"escaped slash stays":   {value: "/a%2Fb", want: "/a%2Fb"},
		"parameters kept":       {value: "/a;v=1", matching: ruleset.PathStrict, want: "/a;v=1"},
		"escaped letter folded": {value: "/%C3%A9", want: "/%C3%89"},
		"no slash":              {value: "api", wantErr: `write "/api"`},
		"empty":                 {value: "", wantErr: `write "/"`},
		"query":                 {value: "/a?b", wantErr: `write "/a"`},
		"doubled slash":         {value: "/a//b", wantErr: `write "/a/b"`},
		"dots":                  {value: "/a/../b", wantErr: `write "/b"`},
		"escaped dots":          {value: "/a/%2e%2e/b", wantErr: `write "/b"`},
		"escaped letter":        {value: "/%61", wantErr: `write "/a"`},
		"lower-case escape":     {value: "/a%2fb", wantErr: `write "/a%2Fb"`},
		"backslash":             {value: "/a\\b", wantErr: `write "/a/b"`},
		"space":                 {value: "/a b", wantErr: `write "/a%20b"`},
		"parameters":            {value: "/a;v=1/b", wantErr: `write "/a/b", or set pathMatching: Strict`},
		"malformed":             {value: "/a%2", wantErr: "two hex digits"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, err := CanonicalPattern(tc.value, tc.matching)
			if tc.wantErr != "" {
				if err == nil || !strings.Contains(err.Error(), tc.wantErr) {
					t.Fatalf("CanonicalPattern(%q) = %q, %v, want an error with %q", tc.value, got, err, tc.wantErr)
				}
				return
			}
			if err != nil || got != tc.want {
				t.Errorf("CanonicalPattern(%q) = %q, %v, want %q", tc.value, got, err, tc.want)
			}
		})
	}
}

// FuzzReadPath holds what must be true of any path: few readings, each distinct
// and canonical, the same for a path that is one, and a fast way that agrees.
func FuzzReadPath(f *testing.F) {
	for _, seed := range []string{"/", "*", "", "/a//b/../c;x/%2e%2e%2F%5c", "/%C3%A9%e2%84%aa", "/a\\b%", "/\xff%ff"} {
		f.Add(seed, true)
		f.Add(seed, false)
	}
	f.Fuzz(func(t *testing.T, path string, loose bool) {
		matching := ruleset.PathStrict
		if loose {
			matching = ruleset.PathLoose
		}
		read, err := readPath(path, matching)
		if err != nil {
			if !errors.Is(err, ErrBadPath) {
				t.Fatalf("readPath(%q) = %v, want ErrBadPath", path, err)
			}
			return
		}
		seen := map[string]bool{}
		for _, reading := range read.all() {
			if seen[reading] {
				t.Errorf("%q is read as %q twice", path, reading)
			}
			seen[reading] = true
			again, err := readPath(reading, matching)
			if err != nil {
				t.Fatalf("reading %q of %q has no reading: %v", reading, path, err)
			}
			if !strings.Contains(reading, "/.") && !slices.Contains(again.all(), reading) {
				t.Errorf("reading %q of %q is read as %q", reading, path, again.all())
			}
			if pattern, err := CanonicalPattern(reading, matching); err == nil && pattern != reading {
				t.Errorf("reading %q of %q as a pattern is %q", reading, path, pattern)
			}
		}
		if isPlain(path, loose) {
			slow := finish(resolveDots(normalise(path, true, loose)), loose)
			if slow != path {
				t.Errorf("%q is taken for plain and is %q", path, slow)
			}
		}
	})
}

func readPath(path string, matching ruleset.PathMatching) (readings, error) {
	var read readings
	err := read.readPath(path, matching)
	return read, err
}
