// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package keys_test

import (
	"testing"

	"github.com/redis/go-redis/v9"

	"github.com/penstock-dev/penstock/internal/keys"
	"github.com/penstock-dev/penstock/test/redistest"
)

// TestSlotIsThatOfRedis asks a server of a cluster about odd names.
func TestSlotIsThatOfRedis(t *testing.T) {
	t.Parallel()
	client := redis.NewClient(&redis.Options{Addr: redistest.StartCluster(t).Addrs()[0]})
	t.Cleanup(func() { _ = client.Close() })
	names := []string{
		"", "a", "foo", "123456789", "{}", "{}a", "a{}b", "{a", "a}", "}a{b}", "{a}{b}", "{{a}}", "x{a}y", "{a}b}", "\xff\x00",
		keys.Prefix("penstock").Counter("shop", "kZQ9vTqW3mY8aB0cD1eF2g", "aB3_-x9Z"),
	}
	for _, name := range names {
		want, err := client.ClusterKeySlot(t.Context(), name).Result()
		if err != nil {
			t.Fatal(err)
		}
		if got := keys.Slot(name); int64(got) != want {
			t.Errorf("Slot(%q) = %d, Redis says %d", name, got, want)
		}
	}
}

func TestLimitsOfOneIdentityShareASlot(t *testing.T) {
	t.Parallel()
	one := keys.Slot(keys.Prefix("penstock").Counter("shop", "identity", "one"))
	for _, other := range []string{
		keys.Prefix("penstock").Counter("shop", "identity", "two"), keys.Prefix("eu").Counter("blog", "identity", "one"),
	} {
		if keys.Slot(other) != one {
			t.Errorf("%s is in another slot", other)
		}
	}
}
