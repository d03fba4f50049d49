// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"errors"
	"io"
	"iter"

	"go.yaml.in/yaml/v3"
)

// maxParts is how many parts of a file are read.
const maxParts = 10_000

// yamlPart is what stands between two markers of a YAML file, so that it can be read
// though another is broken.
type yamlPart struct {
	// before are the lines of the file before it.
	before int
	text   []byte
}

// partsOf parts a file at the lines that begin a document. Directives and comments belong
// to the document after them.
func partsOf(text []byte) iter.Seq2[int, yamlPart] {
	return func(yield func(int, yamlPart) bool) {
		index, lines, begin, at, begun := 0, 0, 0, 0, false
		before := 0
		for line := range bytes.Lines(text) {
			marker := isMarker(line)
			if marker && begun {
				if !yield(index, yamlPart{before, text[begin:at]}) {
					return
				}
				index, before, begin = index+1, lines, at
			}
			begun = begun || marker || !isPreface(line)
			at += len(line)
			lines++
		}
		if begin < len(text) {
			yield(index, yamlPart{before, text[begin:]})
		}
	}
}

// isMarker reports whether a line begins a document: nothing else in YAML may look so.
func isMarker(line []byte) bool {
	rest, found := bytes.CutPrefix(line, []byte("---"))
	return found && (len(rest) == 0 || bytes.ContainsRune([]byte(" \t\r\n"), rune(rest[0])))
}

// isPreface reports whether a line may stand before a document that it is no part of.
func isPreface(line []byte) bool {
	line = bytes.TrimSpace(line)
	return len(line) == 0 || line[0] == '#' || line[0] == '%'
}

// nodes are the values in a part. What comes before an error is returned beside it.
func (p yamlPart) nodes() ([]*yaml.Node, error) {
	var nodes []*yaml.Node
	decoder := yaml.NewDecoder(bytes.NewReader(p.text))
	for {
		var node yaml.Node
		switch err := decoder.Decode(&node); {
		case errors.Is(err, io.EOF):
			return nodes, nil
		case err != nil:
			return nodes, p.syntaxError(err)
		case !isNull(node.Content[0]):
			nodes = append(nodes, node.Content[0])
		}
	}
}
