// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package token

import (
	"strings"
	"sync"

	"github.com/go-jose/go-jose/v4/json"
)

// Claims are what a token says. They never change, so any number of requests may
// share them.
type Claims struct {
	values map[string]any
	plain  func() map[string]any
}

func newClaims(values map[string]any) *Claims {
	return &Claims{values: values, plain: sync.OnceValue(func() map[string]any {
		return plainOf(values).(map[string]any)
	})}
}

// Text is a claim as part of an identity: a string, a number as the token spells
// it, or true or false. It is empty where the claim is missing or anything else. A
// name with dots that is no claim itself leads into claims that are objects.
func (c *Claims) Text(name string) string {
	switch value := c.find(name).(type) {
	case string:
		return value
	case json.Number:
		return value.String()
	case bool:
		if value {
			return "true"
		}
		return "false"
	default:
		return ""
	}
}

func (c *Claims) find(name string) any {
	if value, found := c.values[name]; found {
		return value
	}
	within := c.values
	for {
		first, rest, more := strings.Cut(name, ".")
		value := within[first]
		if !more {
			return value
		}
		object, isObject := value.(map[string]any)
		if !isObject {
			return nil
		}
		within, name = object, rest
	}
}

// Values are all claims for expressions: an integer of 64 bits is an int64, any
// other number a float64. They must not be changed.
func (c *Claims) Values() map[string]any { return c.plain() }

// plainOf copies a value with numbers as Go has them.
func plainOf(value any) any {
	switch value := value.(type) {
	case map[string]any:
		copied := make(map[string]any, len(value))
		for name, entry := range value {
			copied[name] = plainOf(entry)
		}
		return copied
	case []any:
		copied := make([]any, len(value))
		for i, entry := range value {
			copied[i] = plainOf(entry)
		}
		return copied
	case json.Number:
		if integer, err := value.Int64(); err == nil {
			return integer
		}
		// Beyond the range of a float it is an infinity, which equals no number sent.
		float, _ := value.Float64()
		return float
	default:
		return value
	}
}
