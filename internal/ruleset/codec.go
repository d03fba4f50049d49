// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package ruleset

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
)

// MaxEncodedBytes is the largest encoded rule set: 1 MiB compressed.
const MaxEncodedBytes = 1 << 20

// maxDecodedBytes bounds what a small body may unpack to.
const maxDecodedBytes = 64 << 20

var (
	// ErrUnsupportedFormat says that a rule set is of a newer format than this
	// program reads.
	ErrUnsupportedFormat = errors.New("rule set format not supported")
	// ErrTooLarge says that an encoded rule set is over MaxEncodedBytes.
	ErrTooLarge = errors.New("rule set too large")
)

// Encode returns the rule set as gzip-compressed JSON and its revision, which
// is a hash of the content: equal content has an equal revision.
func Encode(rs *RuleSet) (body []byte, revision string, err error) {
	plain, err := json.Marshal(rs)
	if err != nil {
		return nil, "", fmt.Errorf("encode rule set of namespace %q: %w", rs.Namespace, err)
	}
	var packed bytes.Buffer
	writer := gzip.NewWriter(&packed)
	if _, err := writer.Write(plain); err != nil {
		return nil, "", fmt.Errorf("compress rule set of namespace %q: %w", rs.Namespace, err)
	}
	if err := writer.Close(); err != nil {
		return nil, "", fmt.Errorf("compress rule set of namespace %q: %w", rs.Namespace, err)
	}
	if packed.Len() > MaxEncodedBytes {
		return nil, "", fmt.Errorf("%w: namespace %q has %d bytes, at most %d fit; split its policies over namespaces or drop rules",
			ErrTooLarge, rs.Namespace, packed.Len(), MaxEncodedBytes)
	}
	return packed.Bytes(), Revision(plain), nil
}

// Decode reads what Encode wrote. A rule set of a newer format gives an error
// that wraps ErrUnsupportedFormat.
func Decode(body []byte) (*RuleSet, error) {
	reader, err := gzip.NewReader(bytes.NewReader(body))
	if err != nil {
		return nil, fmt.Errorf("decompress rule set: %w", err)
	}
	plain, err := io.ReadAll(io.LimitReader(reader, maxDecodedBytes+1))
	if err != nil {
		return nil, fmt.Errorf("decompress rule set: %w", err)
	}
	if len(plain) > maxDecodedBytes {
		return nil, fmt.Errorf("decompress rule set: %w: more than %d bytes", ErrTooLarge, maxDecodedBytes)
	}
	// The format is read first and alone: the rest of a newer one may not parse.
	var head struct {
		Format int `json:"format"`
	}
	if err := json.Unmarshal(plain, &head); err != nil {
		return nil, fmt.Errorf("decode rule set: %w", err)
	}
	if head.Format > Format || head.Format < 1 {
		return nil, fmt.Errorf("%w: it has format %d, this program reads 1 to %d", ErrUnsupportedFormat, head.Format, Format)
	}
	rs := &RuleSet{}
	if err := json.Unmarshal(plain, rs); err != nil {
		return nil, fmt.Errorf("decode rule set: %w", err)
	}
	return rs, nil
}

// Revision is the hash of content that names a revision: 12 hex digits.
func Revision(content []byte) string {
	sum := sha256.Sum256(content)
	return hex.EncodeToString(sum[:6])
}
