// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"math"
	"reflect"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/penstock-dev/penstock/api/v1alpha1"
	"github.com/penstock-dev/penstock/internal/compile"
)

// plain is a value that is neither an object nor a list.
func (s *shape) plain(node *yaml.Node, want reflect.Type, path string) (any, bool) {
	if node.Kind == yaml.ScalarNode {
		switch node.ShortTag() {
		case "!!str", "!!timestamp", "!!bool", "!!int", "!!float":
		default:
			return s.leftOut(s.lineOfNode(node), path, "tag %s is not supported: write a plain value", node.Tag)
		}
	}
	switch {
	case want == reflect.TypeFor[v1alpha1.Duration]():
		return s.duration(node, path)
	case want.Kind() == reflect.String:
		return s.text(node, path)
	case want.Kind() == reflect.Bool:
		return s.boolean(node, path)
	default:
		return s.integer(node, want, path)
	}
}

func isText(node *yaml.Node) bool {
	return node.Kind == yaml.ScalarNode && (node.ShortTag() == "!!str" || node.ShortTag() == "!!timestamp")
}

// onlyText is the text of a list that has nothing but that.
func onlyText(node *yaml.Node) (string, bool) {
	if node.Kind != yaml.SequenceNode || len(node.Content) != 1 || !isText(node.Content[0]) {
		return "", false
	}
	return node.Content[0].Value, true
}

func (s *shape) text(node *yaml.Node, path string) (any, bool) {
	if isText(node) {
		return node.Value, true
	}
	line := s.lineOf(path)
	if only, ok := onlyText(node); ok {
		s.mended(line, path, "is a list, but must be a text: write %s, without hyphen and brackets", only)
		return only, true
	}
	if node.Kind != yaml.ScalarNode {
		return s.leftOut(line, path, "is %s, but must be a text", kindOf(node))
	}
	s.mistyped(line, path, "is %s, but must be a text: write %q in quotes", kindOf(node), node.Value)
	return node.Value, true
}

// duration wants a unit: a number alone is none.
func (s *shape) duration(node *yaml.Node, path string) (any, bool) {
	if isText(node) {
		return node.Value, true
	}
	line := s.lineOf(path)
	if only, ok := onlyText(node); ok {
		s.mended(line, path, "is a list, but must be a duration: write %s, without hyphen and brackets", only)
		return only, true
	}
	if meant := compile.SuggestDuration(node.Value); meant != "" {
		// What is beside it may fit another unit.
		s.unmended = append(s.unmended, path)
		s.mended(line, path, "is the number %s without a unit, but must be a duration: write %s if that is meant, or another with h, m, s or ms", node.Value, meant)
		return meant, true
	}
	return s.leftOut(line, path, "is %s, but must be a duration: write one such as 60s or 1m30s", kindOf(node))
}

func (s *shape) boolean(node *yaml.Node, path string) (any, bool) {
	line := s.lineOf(path)
	if node.Kind == yaml.ScalarNode && node.ShortTag() == "!!bool" {
		return strings.EqualFold(node.Value, "true"), true
	}
	if isText(node) {
		switch strings.ToLower(node.Value) {
		case "true", "yes", "on":
			s.mended(line, path, "is a text, but must be true or false: write true, without quotes")
			return true, true
		case "false", "no", "off":
			s.mended(line, path, "is a text, but must be true or false: write false, without quotes")
			return false, true
		}
	}
	return s.leftOut(line, path, "is %s, but must be true or false", kindOf(node))
}

func (s *shape) integer(node *yaml.Node, want reflect.Type, path string) (any, bool) {
	line, bits := s.lineOf(path), want.Bits()
	if isText(node) {
		number, err := strconv.ParseInt(strings.TrimSpace(node.Value), 10, bits)
		if err != nil {
			return s.leftOut(line, path, "is a text, but must be a whole number: write one in digits, such as 10")
		}
		s.mistyped(line, path, "is a text, but must be a whole number: write %d, without quotes", number)
		return number, true
	}
	var number float64
	if node.Kind != yaml.ScalarNode || node.ShortTag() == "!!bool" || node.Decode(&number) != nil {
		return s.leftOut(line, path, "is %s, but must be a whole number", kindOf(node))
	}
	most := int64(1)<<(bits-1) - 1
	switch {
	case number != math.Trunc(number) || math.IsInf(number, 0):
		return s.leftOut(line, path, "is the number %s, but must be a whole number: write one without a fraction", node.Value)
	case number >= float64(most)+1 || number < -float64(most)-1:
		return s.leftOut(line, path, "is the number %s, which is too large: write at most %d", node.Value, most)
	}
	var whole int64
	if err := node.Decode(&whole); err != nil {
		// YAML has whole numbers with an exponent or a fraction of zero, too.
		whole = int64(number)
	}
	return whole, true
}
