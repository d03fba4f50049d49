// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package store

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"

	"github.com/penstock-dev/penstock/internal/ruleset"
)

// ErrCorrupt says that what stands for a namespace is not what Publish writes.
var ErrCorrupt = errors.New("rule set damaged in the store")

// head is what a poll reads: everything but the body.
type head struct {
	sequence int64 // 0: there is no rule set
	revision string
	// format is the version of the compiled form, read before the body because
	// the body of a newer one may not decode.
	format int
	live   map[string]int64
}

// readHead reads what stands for a namespace, without the body.
func (s *Store) readHead(ctx context.Context, namespace string) (head, error) {
	values, err := s.client.HMGet(ctx, s.prefix.Rules(namespace), "sequence", "revision", "format", "live").Result()
	if err != nil {
		return head{}, fmt.Errorf("read the revision of namespace %q: %w", namespace, err)
	}
	return s.parseHead(namespace, values)
}

// readPublished reads what stands for a namespace, in one command, so that the
// parts belong together.
func (s *Store) readPublished(ctx context.Context, namespace string) (head, []byte, error) {
	values, err := s.client.HMGet(ctx, s.prefix.Rules(namespace), "sequence", "revision", "format", "live", "body").Result()
	if err != nil {
		return head{}, nil, fmt.Errorf("read the rule set of namespace %q: %w", namespace, err)
	}
	found, err := s.parseHead(namespace, values)
	return found, []byte(text(values[4])), err
}

func (s *Store) parseHead(namespace string, values []any) (head, error) {
	if values[0] == nil && values[1] == nil {
		return head{}, nil
	}
	damaged := func(field string, value any) error {
		return fmt.Errorf("%w: field %s of %s is %q; delete the key, the operator writes it anew",
			ErrCorrupt, field, s.prefix.Rules(namespace), text(value))
	}
	found := head{revision: text(values[1])}
	var err error
	if found.sequence, err = strconv.ParseInt(text(values[0]), 10, 64); err != nil || found.sequence < 1 {
		return head{}, damaged("sequence", values[0])
	}
	if found.format, err = strconv.Atoi(text(values[2])); err != nil {
		return head{}, damaged("format", values[2])
	}
	if encoded := text(values[3]); encoded != "" {
		if json.Unmarshal([]byte(encoded), &found.live) != nil {
			return head{}, damaged("live", values[3])
		}
	}
	return found, nil
}

func text(value any) string {
	s, _ := value.(string)
	return s
}

// decode unpacks a publication for a namespace.
func decode(namespace string, format int, body []byte) (*ruleset.RuleSet, error) {
	if format > ruleset.Format {
		return nil, fmt.Errorf("rule set of namespace %q: %w: it has format %d, this program reads 1 to %d",
			namespace, ruleset.ErrUnsupportedFormat, format, ruleset.Format)
	}
	rs, err := ruleset.Decode(body)
	switch {
	case errors.Is(err, ruleset.ErrUnsupportedFormat):
		return nil, fmt.Errorf("rule set of namespace %q: %w", namespace, err)
	case err != nil:
		return nil, fmt.Errorf("rule set of namespace %q: %w: %w", namespace, ErrCorrupt, err)
	case rs.Namespace != namespace:
		return nil, fmt.Errorf("rule set of namespace %q: %w: it is of namespace %q", namespace, ErrCorrupt, rs.Namespace)
	}
	return rs, nil
}
