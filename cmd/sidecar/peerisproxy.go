// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"maps"

	"github.com/penstock-dev/penstock/internal/store"
)

// peerIsProxy is what an ack says of policies that take a proxy for the client.
func (s *sidecar) peerIsProxy() map[string]string {
	seen := s.server.PeerIsProxy()
	if len(seen) == 0 {
		return nil
	}
	fields := make(map[string]string, len(seen))
	for _, of := range seen {
		fields[store.PolicyKey(of.Policy.Kind, of.Policy.Name)] = of.Field
	}
	return fields
}

// tellPeerIsProxy returns what has such policies acknowledged at once.
func (s *sidecar) tellPeerIsProxy() func() {
	var told map[string]string
	return func() {
		if seen := s.peerIsProxy(); !maps.Equal(seen, told) {
			told = seen
			s.stores.acker.Wake()
		}
	}
}
