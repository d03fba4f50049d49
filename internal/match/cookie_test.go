// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package match

import (
	"net/url"
	"strings"
	"testing"
)

func TestCookieValue(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		lines         []string
		want          string
		wantAmbiguous bool
	}{
		"none":                           {},
		"alone":                          {lines: []string{"s=a"}, want: "a"},
		"among others":                   {lines: []string{"x=1; s=a; y=2"}, want: "a"},
		"without spaces":                 {lines: []string{"x=1;s=a;y=2"}, want: "a"},
		"in another line":                {lines: []string{"x=1", "s=a"}, want: "a"},
		"spaces around":                  {lines: []string{"x=1;  s \t=  a  ;"}, want: "a"},
		"empty":                          {lines: []string{"s="}},
		"empty quotes":                   {lines: []string{`s=""`}},
		"without equals sign":            {lines: []string{"s"}},
		"value with equals signs":        {lines: []string{"s=a=b=="}, want: "a=b=="},
		"another case":                   {lines: []string{"S=a"}},
		"the end of another name":        {lines: []string{"xs=a"}},
		"in the value of another":        {lines: []string{"x=s=a"}},
		"empty pairs":                    {lines: []string{";; ;s=a;;"}, want: "a"},
		"quotes":                         {lines: []string{`s="a"`}, want: "a"},
		"one quote":                      {lines: []string{`s="a`}, want: `"a`},
		"a quote alone":                  {lines: []string{`s="`}, want: `"`},
		"escapes of a URL":               {lines: []string{"s=%61"}, want: "a"},
		"escapes of a URL in quotes":     {lines: []string{`s="%61"`}, want: "a"},
		"escapes that are none":          {lines: []string{"s=%zz"}, want: "%zz"},
		"a plus sign as in a form":       {lines: []string{"s=a+b"}, want: "a b"},
		"octal escapes":                  {lines: []string{`s="\141"`}, want: "a"},
		"an escaped quote":               {lines: []string{`s="a\"b"`}, want: `a"b`},
		"digits that are no octal":       {lines: []string{`s="\481"`}, want: "481"},
		"octal beyond a byte":            {lines: []string{`s="\400"`}, want: "400"},
		"a backslash at the end":         {lines: []string{`s="a\"`}, want: `a\`},
		"a backslash without quotes":     {lines: []string{`s=a\b`}, want: `a\b`},
		"twice with one value":           {lines: []string{"s=a; s=a"}, want: "a"},
		"twice with one value, spelled":  {lines: []string{`s=a; s="%61"`}, want: "a"},
		"twice with two values":          {lines: []string{"s=a; s=b"}, wantAmbiguous: true},
		"two values in two lines":        {lines: []string{"s=a", "s=b"}, wantAmbiguous: true},
		"a value and an empty one":       {lines: []string{"s=a; s="}, wantAmbiguous: true},
		"a semicolon in quotes":          {lines: []string{`x="; s=a"; s=b`}, wantAmbiguous: true},
		"a comma does not part":          {lines: []string{"x=1,s=a"}},
		"attributes of RFC 2109 are not": {lines: []string{`$Version=1; s=a; $Path="/"`}, want: "a"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, ambiguous := cookieValue(&fakeView{headers: map[string][]string{"cookie": tc.lines}}, "s")
			if ambiguous != tc.wantAmbiguous || !ambiguous && got != tc.want {
				t.Errorf("cookie is %q, ambiguous %t; want %q, %t", got, ambiguous, tc.want, tc.wantAmbiguous)
			}
		})
	}
}

// FuzzCookies puts a cookie among others: what surrounds it must not change it, and a
// second value must never go unnoticed.
func FuzzCookies(f *testing.F) {
	f.Add("x=1; y", "a", "b")
	f.Add(`x="; s=z"`, `"\141"`, "%61")
	f.Add("s=;;=", "a%", `"\`)
	f.Fuzz(func(t *testing.T, others, one, other string) {
		if strings.Contains(one+other, ";") {
			return
		}
		read := func(lines ...string) (string, bool) {
			return cookieValue(&fakeView{headers: map[string][]string{"cookie": lines}}, "s")
		}
		a, _ := read("s=" + one)
		b, _ := read("s=" + other)
		if _, ambiguous := read("s="+one+"; s="+other, others); a != b && !ambiguous {
			t.Errorf("%q and %q are %q and %q, and not ambiguous together", one, other, a, b)
		}
		if got, ambiguous := read("s="+one, "x="+other); ambiguous || got != a {
			t.Errorf("%q is %q, and %q beside another cookie", one, a, got)
		}
		if got, _ := read("s=" + url.QueryEscape(a)); got != a {
			t.Errorf("%q is %q, and %q when it is escaped", one, a, got)
		}
	})
}
