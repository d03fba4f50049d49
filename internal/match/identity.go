// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package match

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"fmt"
	"hash"
	"slices"
	"strings"
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
func appendPart(content []byte, part *ruleset.KeyPart, request *request, rule *ruleMatcher, client func() []byte) ([]byte, partOutcome) {
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
			value, ambiguous := headerValue(request.view, source.Name)
			if ambiguous {
				return content, partAmbiguous
			}
			if value != "" {
				content = appendField(content, string(source.Kind))
				content = appendField(content, source.Name)
				return appendField(content, value), partFound
			}
		case ruleset.SourceJWTClaim:
			value, ambiguous := rule.providers.claim(request, source)
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

// identify returns the identity of a request under a rule, or the part that is
// missing and makes the rule skip or refuse the request.
func (m *Matcher) identify(request *request, policy *ruleset.Policy, rule *ruleMatcher) (identity string, missing *ruleset.KeyPart) {
	if len(rule.rule.Key) == 0 {
		return rule.whole, nil
	}
	var room [256]byte
	content := append(room[:0], identityOfParts)
	ambiguous := false
	client := func() []byte { return request.client(policy.ClientIP.IPv6PrefixLength) }
	for i := range rule.rule.Key {
		part := &rule.rule.Key[i]
		var outcome partOutcome
		content, outcome = appendPart(content, part, request, rule, client)
		switch {
		case outcome == partAmbiguous:
			ambiguous = true
		case outcome == partMissing && (part.OnMissing == ruleset.MissingSkip || part.OnMissing == ruleset.MissingDeny):
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

// checkKey refuses what would otherwise silently count as missing.
func checkKey(key []ruleset.KeyPart) error {
	for _, part := range key {
		for _, source := range part.From {
			known := source.Kind == ruleset.SourceClientIP || source.Kind == ruleset.SourceHeader || source.Kind == ruleset.SourceJWTClaim
			if !known {
				return fmt.Errorf("key part %q: source kind %q is not known to this version", part.Name, source.Kind)
			}
			if source.Kind == ruleset.SourceHeader && source.Name != strings.ToLower(source.Name) {
				return fmt.Errorf("key part %q: header name %q is not in lower case", part.Name, source.Name)
			}
		}
	}
	return nil
}
