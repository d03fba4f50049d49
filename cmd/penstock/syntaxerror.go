// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"go.yaml.in/yaml/v3"
)

var (
	yamlMessage = regexp.MustCompile(`^yaml: (?:line ([0-9]+): )?(?s:(.*))$`)
	// parserMessage begins the messages of the YAML library's parser. It tells where the
	// collection begins in which something is wrong, and no line for the first; its scanner
	// tells the line itself.
	parserMessage = regexp.MustCompile(`^did not find expected (node content|key|'-' indicator|',' or|<)`)
	unknownAnchor = regexp.MustCompile(`^unknown anchor '(.*)' referenced$`)
	tabIndented   = regexp.MustCompile(`^ *\t`)
)

// syntaxError says of an error of the YAML library where it is and how to mend it.
func (p yamlPart) syntaxError(err error) error {
	lines := bytes.Split(p.text, []byte("\n"))
	message, told := err.Error(), 1
	if parts := yamlMessage.FindStringSubmatch(message); parts != nil {
		message = parts[2]
		if number, err := strconv.Atoi(parts[1]); err == nil {
			told = min(number, len(lines))
		}
	}
	line, mend := p.lineOfError(message, told), syntaxMend(message)
	switch begin := told + 1; {
	case tabIndented.Match(lines[line-1]):
		mend = "a tab is in the indentation, where only spaces may be: write spaces instead"
	case bytes.Contains(p.text, []byte("{{")):
		line, mend = p.lineWith("{{"), "this is a template: render it, and check what comes out"
	case strings.HasPrefix(message, "did not find expected ',' or") && begin < line && bytes.ContainsAny(lines[begin-1], "[{"):
		mend += fmt.Sprintf("; the bracket is opened in line %d", p.before+begin)
	}
	return &lineError{line: p.before + line, err: fmt.Errorf("not YAML: %s: %s", message, mend)}
}

// lineOfError is where an error is, of which the library tells a line.
func (p yamlPart) lineOfError(message string, told int) int {
	if anchor := unknownAnchor.FindStringSubmatch(message); anchor != nil {
		return p.lineWith("*" + anchor[1])
	}
	if strings.Contains(message, "UTF-8") || strings.HasPrefix(message, "control characters") {
		return p.lineAt(bytes.IndexFunc(p.text, isUnreadable))
	}
	if strings.HasPrefix(message, "found a tab character") {
		// It tells the line before, or the beginning of the value.
		return told + max(0, slices.IndexFunc(bytes.Split(p.text, []byte("\n"))[told-1:], tabIndented.Match))
	}
	if !parserMessage.MatchString(message) {
		return told
	}
	reached := p.lineReached()
	if strings.HasPrefix(message, "did not find expected key") || strings.HasPrefix(message, "did not find expected '-'") {
		// A text may go on in the line after it, so the parser reads that as well.
		before := yamlPart{text: bytes.Join(bytes.SplitAfter(p.text, []byte("\n"))[:reached-1], nil)}
		var node yaml.Node
		if err := yaml.Unmarshal(before.text, &node); err != nil && strings.HasSuffix(err.Error(), message) {
			return before.lineReached()
		}
	}
	return reached
}

// isUnreadable reports whether a character is none of YAML, or no character at all.
func isUnreadable(r rune) bool {
	return r == utf8.RuneError || unicode.IsControl(r) && !strings.ContainsRune("\t\r\n\u0085", r)
}

// syntaxMends say how to mend what messages of the YAML library begin with.
var syntaxMends = []struct{ message, mend string }{
	{"mapping values are not allowed", "write a colon after each name, indent the fields of an object alike, and put a value with a colon in quotes"},
	{"could not find expected ':'", "write name: value, with a colon and a space"},
	{"did not find expected key", "indent the fields of an object alike, and close quotes only at the end of a value"},
	{"did not find expected '-' indicator", "begin each entry of the list with a hyphen, and indent them alike"},
	{"did not find expected ',' or", "write a comma or the closing bracket, here or in a line before"},
	{"did not find expected node content", "write a value, or close the bracket"},
	{"found character that cannot start any token", "put the value in quotes"},
	{"did not find expected alphabetic or numeric character", "put a value that begins with * or & in quotes"},
	{"unknown anchor", "put a value that begins with * in quotes, or write the anchor before it"},
	{"found unknown escape character", "put a value with backslashes in single quotes"},
	{"found unexpected end of stream", "close the quote that is opened here"},
	{"found unexpected document indicator", "close the quote that is opened here"},
	{"found incompatible YAML document", "remove the line with %YAML"},
	{"control characters are not allowed", "remove the character that cannot be seen"},
	{"invalid", "save the file as UTF-8"},
	{"incomplete UTF-8", "save the file as UTF-8"},
}

func syntaxMend(message string) string {
	for _, known := range syntaxMends {
		if strings.HasPrefix(message, known.message) {
			return known.mend
		}
	}
	return "correct it"
}

// lineWith is the first line with a text; 1 if none has it.
func (p yamlPart) lineWith(text string) int { return p.lineAt(bytes.Index(p.text, []byte(text))) }

// lineAt is the line at an index of the text; 1 if that is below zero.
func (p yamlPart) lineAt(index int) int { return 1 + bytes.Count(p.text[:max(0, index)], []byte("\n")) }

// lookAhead is how many bytes the library reads from where a token begins, whether it needs
// them or not.
const lookAhead = 4

// lineReached is the line of the last token that the library's parser reads before it
// fails. It reads the text again, byte for byte, to see how far it comes.
func (p yamlPart) lineReached() int {
	text := &slowReader{text: append(bytes.Clone(p.text), bytes.Repeat([]byte("\n"), lookAhead+1)...)}
	decoder := yaml.NewDecoder(text)
	for {
		var node yaml.Node
		if err := decoder.Decode(&node); err != nil {
			break
		}
	}
	// The first byte of the last token was read for its own sake.
	seen := bytes.TrimRight(text.text[:max(0, text.read-lookAhead+1)], " \t\r\n")
	return 1 + bytes.Count(seen, []byte("\n"))
}

// slowReader gives a text byte for byte.
type slowReader struct {
	text []byte
	read int
}

func (r *slowReader) Read(to []byte) (int, error) {
	if r.read == len(r.text) {
		return 0, io.EOF
	}
	n := copy(to[:min(1, len(to))], r.text[r.read:])
	r.read += n
	return n, nil
}
