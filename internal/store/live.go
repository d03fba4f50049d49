// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package store

import (
	"context"
	_ "embed"
	"encoding/json"
	"fmt"

	"github.com/redis/go-redis/v9"
)

//go:embed live.lua
var liveSource string

var liveScript = redis.NewScript(liveSource)

// SetLive writes how many pods each policy, by PolicyKey, has, beside the rule set
// and outside its revision: pods come and go far more often than rules change.
// Sidecars learn it at their next poll. Without a rule set nothing is written.
func (s *Store) SetLive(ctx context.Context, namespace string, live map[string]int64) error {
	encoded, err := json.Marshal(live)
	if err != nil {
		return fmt.Errorf("encode live pods of namespace %q: %w", namespace, err)
	}
	if err := liveScript.Run(ctx, s.client, []string{s.prefix.Rules(namespace)}, encoded).Err(); err != nil {
		return fmt.Errorf("write live pods of namespace %q: %w", namespace, err)
	}
	return nil
}
