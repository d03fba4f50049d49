// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"reflect"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
)

// written is a field as it is written.
type written struct {
	name       string
	key, value *yaml.Node
}

// object makes an object of a mapping, and of one that is the only entry of a list.
func (s *shape) object(node *yaml.Node, path string, fill func(*yaml.Node) any) (any, bool) {
	if node.Kind == yaml.SequenceNode && len(node.Content) == 1 && node.Content[0].Kind == yaml.MappingNode {
		s.mended(s.lineOf(path), path, "is a list, but must be an object: remove the hyphen or the brackets")
		node = node.Content[0]
	}
	if node.Kind != yaml.MappingNode {
		return s.leftOut(s.lineOf(path), path, "is %s, but must be an object", kindOf(node))
	}
	return fill(node), true
}

// writtenIn are the fields of a mapping, of those of one name only the first.
func (s *shape) writtenIn(node *yaml.Node, path string) []written {
	var all []written
	seen := make(map[string]bool)
	for i := 0; i+1 < len(node.Content); i += 2 {
		key, value := node.Content[i], node.Content[i+1]
		switch {
		case key.Kind != yaml.ScalarNode || key.ShortTag() == "!!merge":
			s.leftOut(s.lineOfNode(key), path, "a key must be a plain name: merge keys (<<) are not supported, write the fields out")
		case seen[key.Value]:
			s.mended(s.lineOfNode(key), within(path, key.Value), "is there twice: remove one")
		default:
			seen[key.Value] = true
			all = append(all, written{key.Value, key, value})
		}
	}
	return all
}

// noteFields remembers the lines of the fields of a mapping.
func (s *shape) noteFields(node *yaml.Node) {
	for i := 0; i+1 < len(node.Content); i += 2 {
		s.note(node.Content[i].Value, node.Content[i])
	}
}

// entries are those of a map with values of a type.
func (s *shape) entries(node *yaml.Node, want reflect.Type, path string) map[string]any {
	kept := make(map[string]any)
	for _, field := range s.writtenIn(node, path) {
		s.keep(kept, field.name, field, want, path)
	}
	return kept
}

// keep puts what stands for a field in its place.
func (s *shape) keep(kept map[string]any, name string, field written, want reflect.Type, path string) {
	inner := within(path, name)
	s.lines[inner] = s.lineOfNode(field.key)
	if value, ok := s.value(field.value, want, inner); ok {
		kept[name] = value
	}
}

// fields are those of an object of a type. What is wrong in a field whose name is
// misspelled is told of the field that is likely meant.
func (s *shape) fields(node *yaml.Node, want reflect.Type, path string) map[string]any {
	known := make(map[string]reflect.Type)
	free := fieldsOf(want, known, nil)
	names := slices.Clone(free)
	kept := make(map[string]any)
	var unknown []written
	for _, field := range s.writtenIn(node, path) {
		inner, ok := known[field.name]
		if !ok {
			unknown = append(unknown, field)
			continue
		}
		s.keep(kept, field.name, field, inner, path)
		free = slices.DeleteFunc(free, func(name string) bool { return name == field.name })
	}
	for _, field := range unknown {
		at, line := within(path, field.name), s.lineOfNode(field.key)
		meant := nearest(field.name, free)
		if meant == "" {
			s.leftOut(line, at, "there is no such field: %s", placeOf(field.name, names, known))
			for _, name := range free {
				// It may be the one that is meant.
				s.unmended = append(s.unmended, within(path, name))
			}
			continue
		}
		s.mended(line, at, "there is no such field: did you mean %s?", meant)
		free = slices.DeleteFunc(free, func(name string) bool { return name == meant })
		s.keep(kept, meant, field, known[meant], path)
	}
	return kept
}

// fewFields is how many fields are told one by one.
const fewFields = 14

// placeOf says where a field belongs that an object does not have: within one that it
// has, if only one of them knows it.
func placeOf(name string, names []string, known map[string]reflect.Type) string {
	var having []string
	for _, outer := range names {
		inner := known[outer]
		for inner.Kind() == reflect.Pointer || inner.Kind() == reflect.Slice {
			inner = inner.Elem()
		}
		if inner.Kind() == reflect.Struct && slices.Contains(fieldsOf(inner, make(map[string]reflect.Type), nil), name) {
			having = append(having, outer)
		}
	}
	if len(having) == 1 {
		return "it belongs in " + having[0]
	}
	if len(names) > fewFields {
		return "correct its name or place, or remove it"
	}
	return "correct its name or place, or remove it; here there may be " + strings.Join(names, ", ")
}

// fieldsOf adds the fields of a type by their names, which it appends in order.
func fieldsOf(want reflect.Type, known map[string]reflect.Type, names []string) []string {
	for i := range want.NumField() {
		field := want.Field(i)
		name, _, _ := strings.Cut(field.Tag.Get("json"), ",")
		switch {
		case field.Anonymous && name == "":
			names = fieldsOf(field.Type, known, names)
		case name != "" && name != "-":
			known[name] = field.Type
			names = append(names, name)
		}
	}
	return names
}

// within is the path of a field of an object.
func within(path, name string) string { return strings.TrimPrefix(path+"."+name, ".") }
