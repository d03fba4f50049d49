// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package match

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

const upperHex = "0123456789ABCDEF"

// normalise brings a path into canonical form but for its dot segments: escapes
// of bytes that a segment may hold anyway are decoded, all others are upper
// case, a backslash is a slash, and empty segments are dropped. With
// decodeSeparators also escaped slashes, backslashes and semicolons are decoded.
// With loose, path parameters are cut and case is folded.
func normalise(path string, decodeSeparators, loose bool) string {
	path = decode(path, slashes{escaped: decodeSeparators, back: true})
	if loose {
		path = foldCase(cutParameters(path))
	}
	return collapse(path)
}

// slashes says what separates segments besides a slash.
type slashes struct {
	// escaped decodes an escaped slash and semicolon.
	escaped bool
	// back makes a backslash a slash, with escaped also an escaped one.
	back bool
}

func decode(path string, separators slashes) string {
	var out strings.Builder
	out.Grow(len(path) + 8)
	for i := 0; i < len(path); i++ {
		c := path[i]
		escaped := c == '%'
		if escaped {
			c = unhex(path[i+1])<<4 | unhex(path[i+2])
			i += 2
		}
		switch {
		case c == '\\' && separators.back && (!escaped || separators.escaped):
			out.WriteByte('/')
		case escaped && (c == '/' || c == ';') && !separators.escaped:
			writeEscape(&out, c)
		case isPathByte(c):
			out.WriteByte(c)
		default:
			writeEscape(&out, c)
		}
	}
	return out.String()
}

func writeEscape(out *strings.Builder, c byte) {
	out.WriteByte('%')
	out.WriteByte(upperHex[c>>4])
	out.WriteByte(upperHex[c&15])
}

// cutParameters drops what follows a semicolon from each segment.
func cutParameters(path string) string {
	if strings.IndexByte(path, ';') < 0 {
		return path
	}
	var out strings.Builder
	inParameters := false
	for i := range len(path) {
		switch path[i] {
		case '/':
			inParameters = false
		case ';':
			inParameters = true
		}
		if !inParameters {
			out.WriteByte(path[i])
		}
	}
	return out.String()
}

// foldCase folds letters, escaped ones included, to one spelling of each.
// The hex digits of an escape stay upper case.
func foldCase(path string) string {
	var out strings.Builder
	out.Grow(len(path))
	for i := 0; i < len(path); {
		if path[i] != '%' {
			out.WriteByte(lower(path[i]))
			i++
			continue
		}
		folded, size := foldEscapedRune(path[i:])
		if size == 0 {
			out.WriteString(path[i : i+3])
			i += 3
			continue
		}
		for _, c := range []byte(string(folded)) {
			if isPathByte(c) {
				out.WriteByte(lower(c))
			} else {
				writeEscape(&out, c)
			}
		}
		i += size
	}
	return out.String()
}

// foldEscapedRune reads one escaped rune beyond ASCII from the start of path.
// It returns the fold of the rune and how many bytes its escapes take, or a
// size of 0 if there is no such rune.
func foldEscapedRune(path string) (folded rune, size int) {
	var encoded [utf8.UTFMax]byte
	count := 0
	for count < utf8.UTFMax && len(path) >= 3*count+3 && path[3*count] == '%' {
		encoded[count] = unhex(path[3*count+1])<<4 | unhex(path[3*count+2])
		count++
	}
	char, length := utf8.DecodeRune(encoded[:count])
	if length < 2 {
		return 0, 0
	}
	// The smallest rune of the orbit stands for all of it. It may be ASCII:
	// the Kelvin sign is a k to whoever ignores case by Unicode's rules.
	folded = char
	for next := unicode.SimpleFold(char); next != char; next = unicode.SimpleFold(next) {
		folded = min(folded, next)
	}
	return folded, 3 * length
}

// collapse drops empty segments; a trailing slash stays.
func collapse(path string) string {
	if !strings.Contains(path, "//") {
		return path
	}
	var out strings.Builder
	out.Grow(len(path))
	for i := range len(path) {
		if path[i] != '/' || i == 0 || path[i-1] != '/' {
			out.WriteByte(path[i])
		}
	}
	return out.String()
}

// resolveDots removes dot segments (RFC 3986, section 5.2.4).
func resolveDots(path string) string {
	if path == "" || path[0] != '/' || !strings.Contains(path, "/.") {
		return path
	}
	segments := strings.Split(path[1:], "/")
	kept := segments[:0]
	endsInDots := false
	for _, segment := range segments {
		endsInDots = false
		switch segment {
		case ".":
			endsInDots = true
		case "..":
			endsInDots = true
			kept = kept[:max(len(kept)-1, 0)]
		default:
			kept = append(kept, segment)
		}
	}
	resolved := "/" + strings.Join(kept, "/")
	if endsInDots && len(kept) > 0 {
		resolved += "/"
	}
	return resolved
}

// finish drops the trailing slash where the matching is loose. Dot segments may
// have left empty segments side by side, so it also collapses.
func finish(path string, loose bool) string {
	path = collapse(path)
	if loose && len(path) > 1 {
		path = strings.TrimSuffix(path, "/")
	}
	return path
}

// pathBytes are what a path segment may hold as it is (RFC 3986: pchar), and a slash.
var pathBytes = func() (set [256]bool) {
	for _, c := range []byte("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789/-._~!$&'()*+,;=:@") {
		set[c] = true
	}
	return set
}()

func isPathByte(c byte) bool { return pathBytes[c] }

func isHex(c byte) bool {
	return '0' <= c && c <= '9' || 'a' <= c && c <= 'f' || 'A' <= c && c <= 'F'
}

func unhex(c byte) byte {
	switch {
	case c <= '9':
		return c - '0'
	case c >= 'a':
		return c - 'a' + 10
	default:
		return c - 'A' + 10
	}
}

func lower(c byte) byte {
	if 'A' <= c && c <= 'Z' {
		return c + 'a' - 'A'
	}
	return c
}
