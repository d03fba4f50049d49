// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package proxy

import "net/http"

const (
	// usualFieldLines is how many fields all families together set.
	usualFieldLines = 8
	// usualFieldBytes is how long their texts are, with a few limits.
	usualFieldBytes = 512
)

// fieldLines are header fields in the making. Their texts become one string and their
// values one slice: every answer carries some, and each piece of memory costs it.
type fieldLines struct {
	text  []byte
	lines []fieldLine
}

type fieldLine struct {
	name string
	// end is where its text ends.
	end int
}

// end ends the text of a field.
func (l *fieldLines) end(name string) {
	l.lines = append(l.lines, fieldLine{name: name, end: len(l.text)})
}

// setIn sets the fields in a header.
func (l *fieldLines) setIn(header http.Header) {
	text, values, start := string(l.text), make([]string, len(l.lines)), 0
	for i, line := range l.lines {
		values[i] = text[start:line.end]
		start = line.end
		// Appending to one field must not reach into the next.
		header[line.name] = values[i : i+1 : i+1]
	}
}
