//go:build e2e

// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"bufio"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/penstock-dev/penstock/internal/keys"
)

// deleteRulesFromRedis deletes the shop's rules by hand, as in an accident, and
// returns when the operator has put them back.
func (c *cluster) deleteRulesFromRedis(t *testing.T) {
	t.Helper()
	client := redis.NewClient(&redis.Options{Addr: c.forward(t, "e2e-redis", "deployment/redis", 6379), Password: "operator-secret"})
	defer client.Close()
	key := keys.Prefix(keys.DefaultPrefix).Rules(shop)
	deleted, err := client.Del(t.Context(), key).Result()
	if err != nil || deleted != 1 {
		t.Fatalf("delete %s: %d keys deleted, %v", key, deleted, err)
	}
	c.eventually(t, 15*time.Second, "the operator puts the rules back", func() bool {
		exists, err := client.Exists(t.Context(), key).Result()
		return err == nil && exists == 1
	}, func() string { return key + " is not there" })
}

// forward forwards a local port, which it returns, to one in the cluster until the
// test ends.
func (c *cluster) forward(t *testing.T, namespace, target string, remote int) string {
	t.Helper()
	command := c.command("-n", namespace, "port-forward", "--address=127.0.0.1", target, fmt.Sprintf(":%d", remote))
	output, err := command.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := command.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = command.Process.Kill()
		_ = command.Wait()
	})
	line, err := bufio.NewReader(output).ReadString('\n')
	if err != nil {
		t.Fatalf("port-forward ended: %v", err)
	}
	var port int
	if _, err := fmt.Sscanf(strings.TrimSpace(line), "Forwarding from 127.0.0.1:%d ->", &port); err != nil {
		t.Fatalf("port-forward printed %q: %v", line, err)
	}
	return fmt.Sprintf("127.0.0.1:%d", port)
}
