// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package limiter

import (
	"errors"
	"testing"

	"github.com/penstock-dev/penstock/internal/keys"
	"github.com/penstock-dev/penstock/internal/redisconn"
)

func TestLayoutKnowsWhoHasASlot(t *testing.T) {
	t.Parallel()
	a, b := &node{}, &node{}
	made := layoutOf([]redisconn.Shard{
		{Address: "b:1", Slots: []redisconn.SlotRange{{First: 100, Last: 199}, {First: 300, Last: 300}}},
		{Address: "a:1", Slots: []redisconn.SlotRange{{First: 0, Last: 99}, {First: 301, Last: 16383}}},
		{Address: "c:1"},
	}, map[string]*node{"a:1": a, "b:1": b, "c:1": {}})
	for slot, want := range map[int]*node{0: a, 99: a, 100: b, 199: b, 200: nil, 299: nil, 300: b, 301: a, 16383: a} {
		if got := made.nodeOf(slot); got != want {
			t.Errorf("slot %d is not at the node that has it", slot)
		}
	}
	if got := (&layout{}).nodeOf(1); got != nil {
		t.Error("a node of a cluster of which nothing is known")
	}
	if got := (&layout{only: a}).nodeOf(1); got != a {
		t.Error("the one node does not have the slot")
	}
}

func TestProbesCountInTheNodesOwnSlots(t *testing.T) {
	t.Parallel()
	for _, first := range []int{0, 5461, 16383} {
		name := probeIdentityIn([]redisconn.SlotRange{{First: first, Last: first}})
		if slot := keys.Slot(keys.Prefix("penstock").Counter("shop", name, probeName)); slot != first || len(name) >= 22 {
			t.Errorf("identity %q is in slot %d, want %d, and shorter than anyone's", name, slot, first)
		}
	}
	if name := probeIdentityIn(nil); name != probeName {
		t.Errorf("identity %q for a node without slots, want %q", name, probeName)
	}
}

// reply is an error as a node answers it.
type reply string

func (r reply) Error() string { return string(r) }

// RedisError is what go-redis tells replies by.
func (reply) RedisError() {}

func TestRedirects(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		err  error
		want redirect
		ok   bool
	}{
		"none":       {},
		"connection": {err: errors.New("read: EOF")},
		"other":      {err: reply("CLUSTERDOWN The cluster is down")},
		"moved":      {err: reply("MOVED 1 127.0.0.1:7000"), want: redirect{address: "127.0.0.1:7000"}, ok: true},
		"name":       {err: reply("MOVED 1 a.test:7000"), want: redirect{address: "a.test:7000"}, ok: true},
		"IPv6":       {err: reply("MOVED 1 2001:db8::1:7000"), want: redirect{address: "[2001:db8::1]:7000"}, ok: true},
		"ask":        {err: reply("ASK 1 127.0.0.1:7000"), want: redirect{address: "127.0.0.1:7000", asking: true}, ok: true},
		"try again":  {err: reply("TRYAGAIN Multiple keys request during rehashing of slot"), ok: true},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got, ok := redirectIn(tc.err); got != tc.want || ok != tc.ok {
				t.Errorf("redirectIn(%v) = %+v, %t, want %+v, %t", tc.err, got, ok, tc.want, tc.ok)
			}
		})
	}
}
