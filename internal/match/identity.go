// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package match

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"hash"
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
func appendPart(content []byte, part *ruleset.KeyPart, request *request, rule *ruleMatcher, how *met) ([]byte, partOutcome) {
	for i := range part.From {
		source := &part.From[i]
		value, ambiguous := request.valueOf(source, rule, how)
		if ambiguous {
			return content, partAmbiguous
		}
		if value != "" {
			content = appendField(content, string(source.Kind))
			content = appendField(content, source.Name)
			return appendField(content, value), partFound
		}
	}
	return content, partMissing
}

// identify returns the identity of a request under a rule, or the part that is
// missing and makes the rule skip or refuse the request. Where nothing is limited, no
// missing part refuses it.
func (m *Matcher) identify(request *request, rule *ruleMatcher, how *met, limited bool) (identity string, missing *ruleset.KeyPart) {
	if len(rule.rule.Key) == 0 {
		return rule.whole, nil
	}
	var room [256]byte
	content := append(room[:0], identityOfParts)
	ambiguous := false
	for i := range rule.rule.Key {
		part := &rule.rule.Key[i]
		var outcome partOutcome
		content, outcome = appendPart(content, part, request, rule, how)
		switch {
		case outcome == partAmbiguous:
			ambiguous = true
		case outcome == partMissing && (part.OnMissing == ruleset.MissingSkip || limited && part.OnMissing == ruleset.MissingDeny):
			return "", part
		case outcome == partMissing:
			content = appendField(content, kindMissing)
			content = appendField(content, "")
			content = appendField(content, "")
		}
	}
	if ambiguous {
		return rule.ambiguous, nil
	}
	return m.identifier.hash(content), nil
}
