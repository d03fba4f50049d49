// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package token

import (
	"bytes"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"strings"
	"unicode/utf8"

	"github.com/go-jose/go-jose/v4/json"
)

// MaxBytes is how long a token may be without its signature. Servers bound the whole header of a request
// at a few times that.
const MaxBytes = 16 << 10

// ErrMalformed says that a text is no token.
var ErrMalformed = errors.New("it is no token in compact form")

// strict decodes base64url without padding, and only in the one spelling that
// encoding gives: others would be other texts with the same signature.
var strict = base64.RawURLEncoding.Strict()

// parsed is a token taken apart, of which nothing is believed yet.
type parsed struct {
	algorithm string
	// keyID is empty if the token names no key.
	keyID  string
	claims map[string]any
	// signed is what the signature is over.
	signed    string
	signature []byte
}

// Unverified reads the claims of a token without looking at its signature, issuer
// or times, for where something before the pod has.
func Unverified(text string) (*Claims, error) {
	_, payload, _, err := split(text)
	if err != nil {
		return nil, err
	}
	claims, err := object(payload)
	if err != nil {
		return nil, fmt.Errorf("%w: payload: %w", ErrMalformed, err)
	}
	return newClaims(claims), nil
}

func parse(text string) (*parsed, error) {
	head, payload, signature, err := split(text)
	if err != nil {
		return nil, err
	}
	p := &parsed{signed: text[:strings.LastIndexByte(text, '.')]}
	if err := p.readHead(head); err != nil {
		return nil, fmt.Errorf("%w: header: %w", ErrMalformed, err)
	}
	if p.claims, err = object(payload); err != nil {
		return nil, fmt.Errorf("%w: payload: %w", ErrMalformed, err)
	}
	if p.signature, err = decodeSignature(signature); err != nil {
		return nil, fmt.Errorf("%w: signature: %w", ErrMalformed, err)
	}
	return p, nil
}

// split wants three parts, as a signed token has. An encrypted one has five.
func split(text string) (head, payload, signature string, err error) {
	head, rest, found := strings.Cut(text, ".")
	payload, signature, foundToo := strings.Cut(rest, ".")
	if !found || !foundToo || strings.Contains(signature, ".") {
		return "", "", "", fmt.Errorf("%w: it has not three parts", ErrMalformed)
	}
	if length := len(head) + len(payload); length > MaxBytes {
		return "", "", "", fmt.Errorf("%w: it has %d bytes, at most %d are read", ErrMalformed, length, MaxBytes)
	}
	if strings.ContainsAny(head, "\r\n") || strings.ContainsAny(payload, "\r\n") {
		// Decoding base64 skips them.
		return "", "", "", fmt.Errorf("%w: it has a line break", ErrMalformed)
	}
	return head, payload, signature, nil
}

// readHead takes the algorithm and the name of the key, and nothing else: keys that
// a token brings along (jwk, jku, x5c, x5u) prove nothing. What is critical to
// understand (RFC 7515, section 4.1.11) is not understood, so it refuses the token.
func (p *parsed) readHead(encoded string) error {
	head, err := object(encoded)
	if err != nil {
		return err
	}
	for _, critical := range []string{"crit", "b64"} {
		if _, there := head[critical]; there {
			return fmt.Errorf("it has %q, which is not supported", critical)
		}
	}
	var isText bool
	if p.algorithm, isText = head["alg"].(string); !isText {
		return errors.New("it names no algorithm")
	}
	if id, there := head["kid"]; there {
		if p.keyID, isText = id.(string); !isText || p.keyID == "" {
			return errors.New("kid is no text")
		}
	}
	return nil
}

// object reads one JSON object. Names that are there twice, which readers take
// differently, and what is not UTF-8, which would read like other text, are errors.
func object(encoded string) (map[string]any, error) {
	text, err := strict.DecodeString(encoded)
	if err != nil {
		return nil, err
	}
	if !utf8.Valid(text) {
		return nil, errors.New("it is not UTF-8")
	}
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.SetNumberType(json.UnmarshalJSONNumber)
	var read map[string]any
	if err := decoder.Decode(&read); err != nil {
		return nil, err
	}
	if read == nil {
		return nil, errors.New("it is no JSON object")
	}
	if err := decoder.Decode(&struct{}{}); !errors.Is(err, io.EOF) {
		return nil, errors.New("something follows its JSON object")
	}
	return read, nil
}
