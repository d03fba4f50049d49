// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package api

import (
	"fmt"
	"strings"
)

// bound is what the schema of one field demands, with values on both sides of it.
type bound struct {
	// path is that of the field, with indices.
	path string
	// keywords are what it covers, as boundsOf lists it.
	keywords []string
	// accepted are values in YAML. An empty one takes the field away.
	accepted []string
	// stricter are values that the schema accepts and the operator refuses, since it
	// knows more.
	stricter []string
	refused  []refusal
}

// refusal is a value, in YAML, that is refused with these words. An empty one
// takes the field away.
type refusal struct {
	value, words string
}

// text bounds the length of a string; fill makes one of n characters.
func text(path string, least, most int, fill func(n int) string) bound {
	return bound{
		path:     path,
		keywords: []string{fmt.Sprintf("minLength=%d", least), fmt.Sprintf("maxLength=%d", most)},
		accepted: []string{quote(fill(least)), quote(fill(most))},
		refused: []refusal{
			{quote(fill(least)[1:]), fmt.Sprintf("should be at least %d chars long", least)},
			{quote(fill(most + 1)), fmt.Sprintf("may not be more than %d", most)},
		},
	}
}

// longText is a text that may be empty.
func longText(path string, most int) bound {
	return bound{
		path:     path,
		keywords: []string{fmt.Sprintf("maxLength=%d", most)},
		accepted: []string{`""`, quote(letters(most))},
		refused:  []refusal{{quote(letters(most + 1)), fmt.Sprintf("may not be more than %d", most)}},
	}
}

// pattern adds values that have the field's form, and values that have not.
func (b bound) pattern(good, bad []string) bound {
	b.keywords = append(b.keywords, "pattern")
	for _, value := range good {
		b.accepted = append(b.accepted, quote(value))
	}
	for _, value := range bad {
		b.refused = append(b.refused, refusal{quote(value), "should match"})
	}
	return b
}

// operatorIsStricter says that having the form is not enough: of the values so far
// none need be accepted by the operator, and these are.
func (b bound) operatorIsStricter(accepted ...string) bound {
	b.stricter, b.accepted = b.accepted, nil
	for _, value := range accepted {
		b.accepted = append(b.accepted, quote(value))
	}
	return b
}

// label is a DNS-1123 label.
func label(path string) bound {
	return text(path, 1, 63, letters).pattern([]string{"a", "a-1", "1a"}, []string{"A", "a_b", "-a", "a-", "a.b", " a", "a\n"})
}

// headerName is a name of a header field.
func headerName(path string) bound {
	return text(path, 1, 63, letters).pattern([]string{"X-API-Key", "x_y"}, []string{"X Y", "X:", "ä", "a\n"})
}

// expression is a CEL expression. The operator wants one of the field's type, such as
// valid, and takes one of as many characters as there may be.
func expression(path, valid string) bound {
	longest := valid + strings.Repeat(" ", 1024-len(valid))
	return text(path, 1, 1024, letters).operatorIsStricter(valid, longest)
}

// list bounds the number of elements; element makes the one of number i.
func list(path string, most int, element func(i int) string) bound {
	elements := func(n int) string {
		made := make([]string, n)
		for i := range made {
			made[i] = element(i)
		}
		return "[" + strings.Join(made, ", ") + "]"
	}
	return bound{
		path:     path,
		keywords: []string{"minItems=1", fmt.Sprintf("maxItems=%d", most), "listType=atomic"},
		accepted: []string{elements(1), elements(most)},
		refused: []refusal{
			{"[]", "should have at least 1 items"},
			{elements(most + 1), fmt.Sprintf("must have at most %d items", most)},
		},
	}
}

// named is a list of elements with names that differ; # in the rest is a number.
func named(path string, most int, rest string) bound {
	element := element("{name: n#, " + rest + "}")
	b := list(path, most, element)
	b.keywords[2] = "listType=map"
	b.refused = append(b.refused, refusal{"[" + element(1) + ", " + element(1) + "]", "Duplicate value"})
	return b
}

// number bounds a whole number.
func number(path string, least, most int64) bound {
	return bound{
		path:     path,
		keywords: []string{fmt.Sprintf("minimum=%d", least), fmt.Sprintf("maximum=%d", most)},
		accepted: []string{fmt.Sprint(least), fmt.Sprint(most)},
		refused: []refusal{
			{fmt.Sprint(least - 1), fmt.Sprintf("should be greater than or equal to %d", least)},
			{fmt.Sprint(most + 1), fmt.Sprintf("should be less than or equal to %d", most)},
		},
	}
}

// choice is a closed set of words. Not all may be accepted beside the scaffold's
// other fields: accepted are those that are.
func choice(path, words, accepted string) bound {
	b := bound{path: path, refused: []refusal{
		{"Other", "supported values"}, {`""`, "supported values"}, {strings.ToUpper(strings.Fields(words)[0]), "supported values"},
	}}
	for _, word := range strings.Fields(words) {
		b.keywords = append(b.keywords, "enum="+quote(word))
	}
	b.accepted = strings.Fields(accepted)
	return b
}

// required are fields that an object must have.
func required(path string, names ...string) []bound {
	var bounds []bound
	for _, name := range names {
		bounds = append(bounds, bound{
			path:     path + "." + name,
			keywords: []string{"required=" + name},
			refused:  []refusal{{"", "Required value"}},
		})
	}
	return bounds
}

// oneField is an object with exactly one field.
func oneField(path, two string) bound {
	b := someField(path)
	b.keywords = append(b.keywords, "maxProperties=1")
	if two != "" {
		b.refused = append(b.refused, refusal{two, "must have at most 1 item"})
	}
	return b
}

// someField is an object with at least one field.
func someField(path string) bound {
	return bound{
		path:     path,
		keywords: []string{"minProperties=1"},
		refused:  []refusal{{"{}", "should have at least 1 properties"}},
	}
}

func letters(n int) string { return strings.Repeat("a", n) }

// after makes texts that begin or end in a certain way.
func after(prefix, suffix string) func(n int) string {
	return func(n int) string {
		fixed := prefix + suffix
		if n <= len(fixed) {
			return fixed[:n]
		}
		return prefix + letters(n-len(fixed)) + suffix
	}
}

func quote(value string) string { return fmt.Sprintf("%q", value) }
