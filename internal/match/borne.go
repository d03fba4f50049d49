// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package match

import (
	"slices"
	"strings"
	"unicode/utf8"
)

// mostTokens is how many different tokens of a request are tried for one provider, so
// that nobody can have signatures be computed at will. It is no less than the headers
// that one may name.
const mostTokens = 4

// borneTokens are the different tokens of a request, in the order in which they are tried.
type borneTokens struct {
	texts [mostTokens]string
	count int
	// ambiguous says that there are others behind these, and that which of them the app
	// takes cannot be known.
	ambiguous bool
}

func (b *borneTokens) all() []string { return b.texts[:b.count] }

func (b *borneTokens) add(text string) {
	switch {
	case text == "" || slices.Contains(b.all(), text):
	case b.count == mostTokens:
		b.ambiguous = true
	default:
		b.texts[b.count] = text
		b.count++
	}
}

// tokensIn returns the tokens of a request's headers. They end at the first header with a
// token and with several different values.
func tokensIn(view View, headers []string) (found borneTokens) {
	for _, name := range headers {
		values := view.Header(name)
		switch {
		case !slices.ContainsFunc(values, func(value string) bool { return holdsToken(name, value) }):
		case slices.ContainsFunc(values, func(other string) bool { return other != values[0] }):
			found.ambiguous = true
			return found
		default:
			found.addFrom(name, values[0])
		}
	}
	return found
}

// addFrom adds the tokens in a header's value. In Authorization it is the word after the
// scheme Bearer (RFC 6750), in whatever case; where that has not the form of a token, it
// is each word that has. Many apps take the second word whatever the first is, and schemes
// other than Bearer carry tokens, too (RFC 9449).
func (b *borneTokens) addFrom(name, value string) {
	if name != authorization {
		b.add(strings.Trim(value, blanks))
		return
	}
	bearer, before := afterBearer(value), b.count
	if hasTokenForm(bearer) {
		b.add(bearer)
		return
	}
	for word := range strings.FieldsFuncSeq(value, partsWords) {
		if hasTokenForm(word) {
			b.add(word)
		}
	}
	if b.count == before {
		b.add(bearer)
	}
}

// holdsToken reports whether a header's value has something to be tried as a token.
func holdsToken(name, value string) bool {
	var found borneTokens
	found.addFrom(name, value)
	return found.count > 0
}

// blanks part the words of a header's value.
const blanks = " \t"

// quotes may stand around a token, to some apps.
const quotes = `"'`

// hasTokenForm reports whether a word has three parts.
func hasTokenForm(word string) bool { return strings.Count(word, ".") == 2 }

// partsWords reports whether apps may take a character of Authorization for the end of a
// word. What is no UTF-8 is to some a space of Latin-1.
func partsWords(c rune) bool {
	return c == utf8.RuneError || strings.ContainsRune(blanks+quotes+",;:", c)
}

// afterBearer is the word after the scheme Bearer; empty where that is not the scheme.
// What may follow the word is for nobody: many apps do not look there, and others refuse
// the request.
func afterBearer(value string) string {
	const scheme = "bearer"
	if len(value) <= len(scheme) || !strings.EqualFold(value[:len(scheme)], scheme) || strings.IndexByte(blanks, value[len(scheme)]) < 0 {
		return ""
	}
	word := strings.TrimLeft(value[len(scheme):], blanks+quotes)
	if end := strings.IndexAny(word, blanks); end >= 0 {
		word = word[:end]
	}
	return word
}
