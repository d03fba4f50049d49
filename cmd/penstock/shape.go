// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"encoding/json"
	"fmt"
	"reflect"
	"strings"

	"go.yaml.in/yaml/v3"
)

// What aliases can make of a small file is bounded: they may even contain
// themselves.
const (
	maxNodes     = 100_000
	maxDepth     = 64
	maxFileNodes = 10 * maxNodes
)

// shape compares what is written with what an object may hold. It makes the object as
// it would be with the faults mended, where it is plain how, so that what else is wrong
// can be told beside them; other faulty values are left out.
type shape struct {
	// before are the lines of the file before the nodes' first.
	before int
	// lines are the lines of fields by path.
	lines  map[string]int
	faults []error
	// unmended are the fields of faults whose value was left out.
	unmended []string
	nodes    int
	depth    int
	full     bool
}

func newShape(before int) *shape { return &shape{before: before, lines: make(map[string]int)} }

// fill makes an object of a node.
func (s *shape) fill(node *yaml.Node, object any) error {
	value, _ := s.value(node, reflect.TypeOf(object), "")
	text, err := json.Marshal(value)
	if err != nil {
		return err
	}
	return json.Unmarshal(text, object)
}

// mended tells a fault whose cure is plain.
func (s *shape) mended(line int, field, format string, args ...any) {
	s.faults = append(s.faults, &lineError{line: line, field: field, err: fmt.Errorf(format, args...)})
}

// mistyped tells a fault whose cure is plain, unless the value is wrong in any type: then
// only that is told.
func (s *shape) mistyped(line int, field, format string, args ...any) {
	s.faults = append(s.faults, &lineError{line: line, field: field, err: fmt.Errorf(format, args...), yields: true})
}

// leftOut tells a fault whose cure only the author knows.
func (s *shape) leftOut(line int, field, format string, args ...any) (any, bool) {
	s.mended(line, field, format, args...)
	s.unmended = append(s.unmended, field)
	return nil, false
}

// lineOfNode is where a node stands in the file.
func (s *shape) lineOfNode(node *yaml.Node) int { return s.before + node.Line }

// lineOf is the line of a field, or of the nearest one that it is in.
func (s *shape) lineOf(path string) int {
	for {
		if line, known := s.lines[path]; known {
			return line
		}
		cut := strings.LastIndexAny(path, ".[")
		if cut < 0 {
			return s.lines[""]
		}
		path = path[:cut]
	}
}

// note remembers the line of a field, unless it is known: that of its name is where a
// person looks for it.
func (s *shape) note(path string, node *yaml.Node) {
	if _, known := s.lines[path]; !known {
		s.lines[path] = s.lineOfNode(node)
	}
}

// value is what stands for a node in an object of a type, and whether anything does.
func (s *shape) value(node *yaml.Node, want reflect.Type, path string) (any, bool) {
	s.nodes++
	s.depth++
	defer func() { s.depth-- }()
	if s.full {
		return nil, false
	}
	if s.nodes > maxNodes || s.depth > maxDepth {
		s.full = true
		// Nothing can be said of what was not read.
		s.unmended = append(s.unmended, "")
		return s.leftOut(s.lineOfNode(node), "", "the document has more than %d values or %d levels: write less, and fewer aliases", maxNodes, maxDepth)
	}
	s.note(path, node)
	if node.Kind == yaml.AliasNode {
		return s.value(node.Alias, want, path)
	}
	for want.Kind() == reflect.Pointer {
		want = want.Elem()
	}
	switch {
	case isNull(node):
		return nil, true
	case reflect.PointerTo(want).Implements(reflect.TypeFor[json.Unmarshaler]()):
		return s.special(node, want, path)
	}
	switch want.Kind() {
	case reflect.Struct:
		return s.object(node, path, func(node *yaml.Node) any { return s.fields(node, want, path) })
	case reflect.Map:
		return s.object(node, path, func(node *yaml.Node) any { return s.entries(node, want.Elem(), path) })
	case reflect.Slice:
		return s.list(node, want.Elem(), path)
	default:
		return s.plain(node, want, path)
	}
}

func isNull(node *yaml.Node) bool { return node.Kind == yaml.ScalarNode && node.ShortTag() == "!!null" }

// special is a value of a type with a form of its own, such as a time.
func (s *shape) special(node *yaml.Node, want reflect.Type, path string) (any, bool) {
	var value any
	err := node.Decode(&value)
	var text []byte
	if err == nil {
		text, err = json.Marshal(value)
	}
	if err == nil {
		err = json.Unmarshal(text, reflect.New(want).Interface())
	}
	if err != nil {
		return s.leftOut(s.lineOfNode(node), path, "cannot be read: %w: correct or remove it", err)
	}
	return value, true
}

func (s *shape) list(node *yaml.Node, want reflect.Type, path string) (any, bool) {
	line, isStruct := s.lineOf(path), want.Kind() == reflect.Struct
	switch {
	case node.Kind == yaml.SequenceNode:
		kept := make([]any, len(node.Content))
		for i, entry := range node.Content {
			// An entry that is left out keeps its place, so that the others keep theirs.
			kept[i], _ = s.value(entry, want, fmt.Sprintf("%s[%d]", path, i))
		}
		return kept, true
	case isStruct && node.Kind == yaml.MappingNode:
		s.mended(line, path, "is an object, but must be a list: write a hyphen before its first field")
	case isStruct || node.Kind == yaml.MappingNode:
		return s.leftOut(line, path, "is %s, but must be a list", kindOf(node))
	case want.Kind() == reflect.String && !isText(node):
		s.mended(line, path, "is %s, but must be a list of texts: write [%q]", kindOf(node), node.Value)
		return []any{node.Value}, true
	default:
		s.mended(line, path, "is %s, but must be a list: write [%s]", kindOf(node), node.Value)
	}
	inner, _ := s.value(node, want, path+"[0]")
	return []any{inner}, true
}

// kindOf is the kind of a value in the words of YAML.
func kindOf(node *yaml.Node) string {
	switch node.Kind {
	case yaml.SequenceNode:
		return "a list"
	case yaml.MappingNode:
		return "an object"
	}
	switch node.ShortTag() {
	case "!!int", "!!float":
		return "a number"
	case "!!bool":
		return node.Value
	default:
		return "a text"
	}
}
