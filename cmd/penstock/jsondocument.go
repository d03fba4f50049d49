// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"strings"

	"go.yaml.in/yaml/v3"
)

// What aliases can make of a small file is bounded: they may even contain
// themselves.
const (
	maxNodes = 100_000
	maxDepth = 64
)

// jsonDocument is a YAML document as JSON that remembers where everything stood.
type jsonDocument struct {
	text bytes.Buffer
	// places are in the order of the text.
	places []place
	// lines are the lines of fields by path.
	lines map[string]int
	nodes int
	depth int
}

// place is a value in the text.
type place struct {
	offset int
	path   string
	line   int
}

// lineError is an error at a line of a file.
type lineError struct {
	line  int
	field string
	err   error
}

func (e *lineError) Error() string {
	if e.field == "" {
		return fmt.Sprintf("%d: %v", e.line, e.err)
	}
	return fmt.Sprintf("%d: %s: %v", e.line, e.field, e.err)
}

func (e *lineError) Unwrap() error { return e.err }

func newJSONDocument(node *yaml.Node) (*jsonDocument, error) {
	d := &jsonDocument{lines: make(map[string]int)}
	return d, d.write(node, "")
}

// write appends the JSON of a node.
func (d *jsonDocument) write(node *yaml.Node, path string) error {
	d.nodes++
	d.depth++
	defer func() { d.depth-- }()
	if d.nodes > maxNodes || d.depth > maxDepth {
		return &lineError{node.Line, "", fmt.Errorf("the document has more than %d values or %d levels: write less, and fewer aliases", maxNodes, maxDepth)}
	}
	d.places = append(d.places, place{offset: d.text.Len(), path: path, line: node.Line})
	if _, known := d.lines[path]; !known {
		d.lines[path] = node.Line
	}
	switch node.Kind {
	case yaml.DocumentNode:
		return d.write(node.Content[0], path)
	case yaml.AliasNode:
		return d.write(node.Alias, path)
	case yaml.MappingNode:
		return d.writeMapping(node, path)
	case yaml.SequenceNode:
		return d.writeSequence(node, path)
	default:
		return d.writeScalar(node, path)
	}
}

func (d *jsonDocument) writeMapping(node *yaml.Node, path string) error {
	d.text.WriteByte('{')
	for i := 0; i+1 < len(node.Content); i += 2 {
		key, value := node.Content[i], node.Content[i+1]
		if key.Kind != yaml.ScalarNode || key.ShortTag() == "!!merge" {
			return &lineError{key.Line, path, errors.New("a key must be a plain name: merge keys (<<) are not supported, write the fields out")}
		}
		inner := strings.TrimPrefix(path+"."+key.Value, ".")
		// The line of the key is where a person looks for the field.
		d.lines[inner] = key.Line
		if i > 0 {
			d.text.WriteByte(',')
		}
		d.writeValue(key.Value)
		d.text.WriteByte(':')
		if err := d.write(value, inner); err != nil {
			return err
		}
	}
	d.text.WriteByte('}')
	return nil
}

func (d *jsonDocument) writeSequence(node *yaml.Node, path string) error {
	d.text.WriteByte('[')
	for i, entry := range node.Content {
		if i > 0 {
			d.text.WriteByte(',')
		}
		if err := d.write(entry, fmt.Sprintf("%s[%d]", path, i)); err != nil {
			return err
		}
	}
	d.text.WriteByte(']')
	return nil
}

func (d *jsonDocument) writeScalar(node *yaml.Node, path string) error {
	var value any
	switch node.ShortTag() {
	case "!!str", "!!timestamp":
		value = node.Value
	case "!!null", "!!bool", "!!int", "!!float":
		if err := node.Decode(&value); err != nil {
			return &lineError{node.Line, path, err}
		}
	default:
		return &lineError{node.Line, path, fmt.Errorf("tag %s is not supported: write a plain value", node.Tag)}
	}
	if number, ok := value.(float64); ok && (math.IsNaN(number) || math.IsInf(number, 0)) {
		return &lineError{node.Line, path, fmt.Errorf("%s is not a number: write a finite one", node.Value)}
	}
	d.writeValue(value)
	return nil
}

func (d *jsonDocument) writeValue(value any) {
	encoded, err := json.Marshal(value)
	if err != nil {
		// Texts, finite numbers, booleans and null always encode.
		panic("encode a YAML scalar as JSON: " + err.Error())
	}
	d.text.Write(encoded)
}

// lineOf is the line of a field, or of the nearest one that it is in.
func (d *jsonDocument) lineOf(path string) int {
	for {
		if line, known := d.lines[path]; known {
			return line
		}
		cut := strings.LastIndexAny(path, ".[")
		if cut < 0 {
			return d.lines[""]
		}
		path = path[:cut]
	}
}

// placeBefore is the value that was being read at an offset of the text.
func (d *jsonDocument) placeBefore(offset int) place {
	var found place
	for _, p := range d.places {
		if p.offset >= offset {
			break
		}
		found = p
	}
	return found
}
