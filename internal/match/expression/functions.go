// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package expression

import (
	"net/netip"
	"strings"
	"unicode/utf8"

	"github.com/google/cel-go/cel"
	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"
)

// The names of the functions that are offered besides those of CEL.
const (
	functionInCIDR     = "inCIDR"
	functionLowerASCII = "lowerAscii"
	functionUpperASCII = "upperAscii"
	functionTrim       = "trim"
	functionSplit      = "split"
	functionIndexOf    = "indexOf"
	functionSubstring  = "substring"
)

// functions are those besides CEL's own. All but inCIDR mean what they mean in CEL's
// library of strings, which as a whole could make texts of any length.
func functions() []cel.EnvOption {
	text, number := cel.StringType, cel.IntType
	return []cel.EnvOption{
		cel.Function(functionInCIDR, cel.MemberOverload("string_in_cidr", []*cel.Type{text, text}, cel.BoolType,
			cel.BinaryBinding(func(address, network ref.Val) ref.Val {
				return inCIDR(string(address.(types.String)), string(network.(types.String)))
			}))),
		cel.Function(functionLowerASCII, cel.MemberOverload("string_lower_ascii", []*cel.Type{text}, text, onText(lowerASCII))),
		cel.Function(functionUpperASCII, cel.MemberOverload("string_upper_ascii", []*cel.Type{text}, text, onText(upperASCII))),
		cel.Function(functionTrim, cel.MemberOverload("string_trim", []*cel.Type{text}, text, onText(strings.TrimSpace))),
		cel.Function(functionSplit, cel.MemberOverload("string_split_string", []*cel.Type{text, text}, cel.ListType(text),
			cel.BinaryBinding(func(value, separator ref.Val) ref.Val {
				parts := strings.Split(string(value.(types.String)), string(separator.(types.String)))
				return types.NewStringList(types.DefaultTypeAdapter, parts)
			}))),
		cel.Function(functionIndexOf, cel.MemberOverload("string_index_of_string", []*cel.Type{text, text}, number,
			cel.BinaryBinding(func(value, part ref.Val) ref.Val {
				return indexOf(string(value.(types.String)), string(part.(types.String)))
			}))),
		cel.Function(functionSubstring,
			cel.MemberOverload("string_substring_int", []*cel.Type{text, number}, text,
				cel.BinaryBinding(func(value, start ref.Val) ref.Val {
					content := string(value.(types.String))
					return substring(content, int64(start.(types.Int)), int64(utf8.RuneCountInString(content)))
				})),
			cel.MemberOverload("string_substring_int_int", []*cel.Type{text, number, number}, text,
				cel.FunctionBinding(func(arguments ...ref.Val) ref.Val {
					return substring(string(arguments[0].(types.String)), int64(arguments[1].(types.Int)), int64(arguments[2].(types.Int)))
				}))),
	}
}

func onText(change func(string) string) cel.OverloadOpt {
	return cel.UnaryBinding(func(value ref.Val) ref.Val { return types.String(change(string(value.(types.String)))) })
}

// inCIDR reports whether an address is in a network. An IPv4-mapped address is the
// IPv4 address in it.
func inCIDR(address, network string) ref.Val {
	parsed, err := netip.ParseAddr(address)
	if err != nil {
		return failed(Address, "inCIDR is asked of what is no IP address")
	}
	prefix, err := netip.ParsePrefix(network)
	if err != nil {
		return failed(Address, "inCIDR is given what is no CIDR")
	}
	return types.Bool(prefix.Contains(parsed.WithZone("").Unmap()))
}

func lowerASCII(text string) string { return mapASCII(text, 'A', 'Z', 'a'-'A') }
func upperASCII(text string) string { return mapASCII(text, 'a', 'z', 256-('a'-'A')) }

// mapASCII adds to the letters from first to last, and leaves all others.
func mapASCII(text string, first, last byte, add int) string {
	isOther := func(c byte) bool { return c < first || last < c }
	changes := false
	for i := range len(text) {
		changes = changes || !isOther(text[i])
	}
	if !changes {
		return text
	}
	changed := []byte(text)
	for i, c := range changed {
		if !isOther(c) {
			changed[i] = c + byte(add)
		}
	}
	return string(changed)
}

// indexOf is where a part begins, in characters; -1 if it is not there.
func indexOf(text, part string) ref.Val {
	at := strings.Index(text, part)
	if at > 0 {
		at = utf8.RuneCountInString(text[:at])
	}
	return types.Int(at)
}

// substring takes the characters from start to before end.
func substring(text string, start, end int64) ref.Val {
	if start < 0 || end < start {
		return failed(Outside, "substring from %d to %d", start, end)
	}
	first, last, count := -1, -1, int64(0)
	for at := range text {
		if count == start {
			first = at
		}
		if count == end {
			last = at
			break
		}
		count++
	}
	if count == start && first < 0 {
		first = len(text)
	}
	if count == end && last < 0 {
		last = len(text)
	}
	if first < 0 || last < 0 {
		return failed(Outside, "substring from %d to %d of a text that ends before", start, end)
	}
	return types.String(text[first:last])
}
