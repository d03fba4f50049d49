// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package faults

import (
	"bytes"
	"encoding/json"
	"testing"

	toxiproxy "github.com/Shopify/toxiproxy/v2"
	"github.com/rs/zerolog"
)

// network stands between a tap and the store and can be made bad.
type network struct{ proxy *toxiproxy.Proxy }

func startNetwork(t *testing.T, store string) *network {
	t.Helper()
	server := toxiproxy.NewServer(toxiproxy.NewMetricsContainer(nil), zerolog.Nop())
	n := &network{proxy: toxiproxy.NewProxy(server, "store", "127.0.0.1:0", store)}
	if err := n.proxy.Start(); err != nil {
		t.Fatalf("start a proxy before the store: %v", err)
	}
	t.Cleanup(n.proxy.Stop)
	return n
}

// toxic is something bad for what travels one way: "upstream" to the store, or
// "downstream" from it. Attributes are numbers of milliseconds or bytes.
type toxic struct {
	Type       string           `json:"type"`
	Stream     string           `json:"stream"`
	Attributes map[string]int64 `json:"attributes"`
}

func (n *network) add(t *testing.T, bad toxic) {
	t.Helper()
	text, err := json.Marshal(bad)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := n.proxy.Toxics.AddToxicJson(bytes.NewReader(text)); err != nil {
		t.Fatalf("make the network bad with %s: %v", text, err)
	}
}

// heal removes everything bad.
func (n *network) heal(t *testing.T) {
	t.Helper()
	n.proxy.Toxics.ResetToxics(t.Context())
}
