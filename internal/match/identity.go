// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package match

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"hash"
	"slices"
	"sync"

	"github.com/penstock-dev/penstock/internal/ruleset"
)

// identityBytes is how much of the hash names an identity: 128 bits, so that no
// two clients meet by chance. In base64url they are 22 characters.
const identityBytes = 16

// What an identity is made of is told apart by its first byte, so that no key
// can be spelled to equal a rule's own count or its ambiguous one.
const (
	identityOfParts     = 'k'
	identityOfRule      = 'r'
	identityOfAmbiguous = 'a'
)

// kindMissing stands in for the source of a part that no source has a value for.
const kindMissing = "Missing"

// identifier hashes what identifies a client under the namespace's key.
type identifier struct{ states sync.Pool }

func newIdentifier(key []byte) *identifier {
	return &identifier{states: sync.Pool{New: func() any { return hmac.New(sha256.New, key) }}}
}

func (h *identifier) hash(content []byte) string {
	state := h.states.Get().(hash.Hash)
	defer h.states.Put(state)
	state.Reset()
	state.Write(content)
	var sum [sha256.Size]byte
	return base64.RawURLEncoding.EncodeToString(state.Sum(sum[:0])[:identityBytes])
}

// ofRule is an identity that belongs to one rule as a whole.
func (h *identifier) ofRule(kind byte, namespace string, policy *ruleset.Policy, rule *ruleset.Rule) string {
	content := []byte{kind}
	for _, name := range []string{namespace, policy.Kind, policy.Name, rule.Name} {
		content = appendField(content, name)
	}
	return h.hash(content)
}

// appendField appends a value with its length before it, so that no two lists of
// values read alike.
func appendField(content []byte, value string) []byte {
	content = binary.AppendUvarint(content, uint64(len(value)))
	return append(content, value...)
}

// partOutcome is what became of one part of a key.
type partOutcome int

const (
	partFound partOutcome = iota
	partMissing
	partAmbiguous
)

// appendPart appends the first source of a part that yields a value, as source
// kind, source name and value. A source that is given twice with different
// values ends the search: which of them the app takes cannot be known.
func appendPart(content []byte, part *ruleset.KeyPart, view View, client func() []byte) ([]byte, partOutcome) {
	for i := range part.From {
		source := &part.From[i]
		switch source.Kind {
		case ruleset.SourceClientIP:
			if address := client(); len(address) > 0 {
				content = appendField(content, string(source.Kind))
				content = appendField(content, source.Name)
				return appendField(content, string(address)), partFound
			}
		case ruleset.SourceHeader:
			value, ambiguous := headerValue(view, source.Name)
			if ambiguous {
				return content, partAmbiguous
			}
			if value != "" {
				content = appendField(content, string(source.Kind))
				content = appendField(content, source.Name)
				return appendField(content, value), partFound
			}
		}
	}
	return content, partMissing
}

// headerValue returns the one value of a header, empty if it is missing.
func headerValue(view View, name string) (value string, ambiguous bool) {
	if name == "host" {
		return canonicalHost(view.Host()), false
	}
	values := view.Header(name)
	if len(values) == 0 {
		return "", false
	}
	differs := slices.ContainsFunc(values[1:], func(other string) bool { return other != values[0] })
	return values[0], differs
}
