// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package match

import "strings"

// cookieValue is the one value of a cookie, empty if it is missing. Apps take the
// first or the last of several, or of several lines, so that two values are ambiguous.
func cookieValue(view View, name string) (value string, ambiguous bool) {
	var only oneValue
	forCookie(view, name, func(value string) { only.add(decodeCookie(value)) })
	return only.result()
}

// forCookie calls found with the value, as sent, of every cookie of a name. Only
// semicolons part cookies, also in quotes: an app that knows quotes has at most fewer
// cookies than are found here.
func forCookie(view View, name string, found func(value string)) {
	for _, line := range view.Header("cookie") {
		for more := true; more; {
			var pair string
			pair, line, more = strings.Cut(line, ";")
			spelled, value, assigned := strings.Cut(pair, "=")
			if assigned && strings.Trim(spelled, cookieSpace) == name {
				found(strings.Trim(value, cookieSpace))
			}
		}
	}
}

// cookieSpace is what may surround names and values.
const cookieSpace = " \t"

// decodeCookie is what the most lenient app makes of a cookie: it takes off quotes and
// resolves the escapes in them, and then those of a URL. Otherwise whoever has one
// session could spell it in any number of ways, and be as many clients.
func decodeCookie(value string) string {
	if last := len(value) - 1; last >= 1 && value[0] == '"' && value[last] == '"' {
		value = unquoteCookie(value[1:last])
	}
	return unescape(value)
}

// unquoteCookie resolves what a backslash escapes in a quoted string: a byte by three
// octal digits, or any character (RFC 2109 and what Python makes of it).
func unquoteCookie(quoted string) string {
	if strings.IndexByte(quoted, '\\') < 0 {
		return quoted
	}
	var out strings.Builder
	out.Grow(len(quoted))
	for i := 0; i < len(quoted); i++ {
		if quoted[i] != '\\' || i+1 == len(quoted) {
			out.WriteByte(quoted[i])
			continue
		}
		if c, ok := octal(quoted[i+1:]); ok {
			out.WriteByte(c)
			i += 3
			continue
		}
		i++
		out.WriteByte(quoted[i])
	}
	return out.String()
}

// octal reads a byte from three digits at the start of a text.
func octal(text string) (c byte, ok bool) {
	if len(text) < 3 || text[0] < '0' || text[0] > '3' {
		return 0, false
	}
	for i := range 3 {
		if text[i] < '0' || text[i] > '7' {
			return 0, false
		}
		c = c<<3 | (text[i] - '0')
	}
	return c, true
}
