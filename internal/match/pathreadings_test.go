// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package match

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/penstock-dev/penstock/internal/ruleset"
)

func TestLongOddPathHasNoReading(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("/a", maxOddPathBytes/2) + "/../b"
	if _, err := readPath(long, ruleset.PathLoose); !errors.Is(err, ErrBadPath) {
		t.Errorf("an odd path of %d bytes: %v, want ErrBadPath", len(long), err)
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
