// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package expression

import (
	"encoding/json"
	"fmt"
	"reflect"

	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"
	"github.com/google/cel-go/common/types/traits"
)

// mapType is the type of what is looked up in. It is no map of CEL's: an absent name
// has a value, too, mostly "", and nobody can go through all names.
var mapType = types.NewObjectType("penstock.Map", traits.ContainerType, traits.FieldTesterType, traits.IndexerType)

// lookup finds values by name.
type lookup struct {
	find func(name string) (value ref.Val, present bool)
	// absent is the value of a name that is absent; nil is "".
	absent ref.Val
}

var (
	_ ref.Val            = (*lookup)(nil)
	_ traits.Indexer     = (*lookup)(nil)
	_ traits.Container   = (*lookup)(nil)
	_ traits.FieldTester = (*lookup)(nil)
)

// Get returns the value of a name, or what stands for one that is absent.
func (l *lookup) Get(index ref.Val) ref.Val {
	name, ok := index.(types.String)
	if !ok {
		return types.MaybeNoSuchOverloadErr(index)
	}
	value, present := l.find(string(name))
	switch {
	case present || types.IsError(value):
		return value
	case l.absent != nil:
		return l.absent
	default:
		return types.String("")
	}
}

// Contains reports whether a name is present.
func (l *lookup) Contains(index ref.Val) ref.Val {
	name, ok := index.(types.String)
	if !ok {
		return types.MaybeNoSuchOverloadErr(index)
	}
	value, present := l.find(string(name))
	if types.IsError(value) {
		return value
	}
	return types.Bool(present)
}

// IsSet is Contains, for has().
func (l *lookup) IsSet(field ref.Val) ref.Val { return l.Contains(field) }

// ConvertToNative gives an error: nobody needs it.
func (l *lookup) ConvertToNative(to reflect.Type) (any, error) {
	return nil, fmt.Errorf("a map of the request is no %v", to)
}

// ConvertToType gives an error for all types.
func (l *lookup) ConvertToType(to ref.Type) ref.Val {
	return failed(Type, "a map of the request is no %s", to.TypeName())
}

// Equal gives an error: who compares maps would read all of a request.
func (l *lookup) Equal(ref.Val) ref.Val {
	return failed(Type, "maps of the request cannot be compared")
}

// Type is mapType.
func (l *lookup) Type() ref.Type { return mapType }

// Value is the map itself.
func (l *lookup) Value() any { return l }

// claims are a JSON object of a token.
func claims(object map[string]any) *lookup {
	return &lookup{find: func(name string) (ref.Val, bool) {
		value, present := object[name]
		return claimAdapter{}.NativeToValue(value), present
	}}
}

// claimAdapter makes values of what JSON decodes to.
type claimAdapter struct{}

var _ types.Adapter = claimAdapter{}

// NativeToValue returns the value of a claim: a number that is whole and fits is an
// int, any other a double.
func (adapter claimAdapter) NativeToValue(value any) ref.Val {
	switch value := value.(type) {
	case nil:
		return types.NullValue
	case string:
		return boundedText(value)
	case bool:
		return types.Bool(value)
	case float64:
		return types.Double(value)
	case int64:
		return types.Int(value)
	case json.Number:
		if whole, err := value.Int64(); err == nil {
			return types.Int(whole)
		}
		number, err := value.Float64()
		if err != nil {
			return failed(Arithmetic, "a claim holds a number that is too large")
		}
		return types.Double(number)
	case []string:
		return types.NewStringList(adapter, value)
	case []any:
		return types.NewDynamicList(adapter, value)
	case map[string]any:
		return claims(value)
	default:
		return types.NewErr("a claim holds what is no JSON value: %T", value)
	}
}

// boundedText is a text of a request, or an error if it is too long to look at.
func boundedText(text string) ref.Val {
	if len(text) > maxValueBytes {
		return failed(TooLarge, "a value has %d bytes, at most %d are looked at", len(text), maxValueBytes)
	}
	return types.String(text)
}
