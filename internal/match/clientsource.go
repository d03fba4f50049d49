// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package match

import (
	"fmt"
	"net/netip"
	"slices"

	"github.com/gaissmai/bart"

	"github.com/penstock-dev/penstock/internal/ruleset"
)

// clientSource says how the client's address is read from a request, for all policies
// that say the same.
type clientSource struct {
	setting *ruleset.ClientIP
	// trusted are the peers whose header is believed.
	trusted *bart.Lite
}

// clientSourceFor readies a setting, or finds it ready.
func (m *Matcher) clientSourceFor(setting *ruleset.ClientIP) (*clientSource, error) {
	for i := range m.policies {
		if known := m.policies[i].client; sameClientIP(known.setting, setting) {
			return known, nil
		}
	}
	trusted, err := addressTable(setting.TrustedCIDRs)
	switch {
	case err != nil:
		return nil, fmt.Errorf("clientIP: trustedCIDRs: %w", err)
	case setting.Header != "" && setting.TrustedHops < 1:
		return nil, fmt.Errorf("clientIP: trustedHops is %d, but header %q needs at least 1", setting.TrustedHops, setting.Header)
	case setting.Header != "" && len(setting.TrustedCIDRs) == 0:
		return nil, fmt.Errorf("clientIP: header %q has no trustedCIDRs, so that anyone could forge it", setting.Header)
	}
	return &clientSource{setting: setting, trusted: trusted}, nil
}

func sameClientIP(a, b *ruleset.ClientIP) bool {
	return a.Header == b.Header && a.TrustedHops == b.TrustedHops && a.IPv6PrefixLength == b.IPv6PrefixLength &&
		slices.Equal(a.TrustedCIDRs, b.TrustedCIDRs)
}

// addressTable is a set of addresses in which one is found in the same time, however
// many ranges there are.
func addressTable(cidrs []string) (*bart.Lite, error) {
	table := new(bart.Lite)
	for _, cidr := range cidrs {
		prefix, err := netip.ParsePrefix(cidr)
		if err != nil {
			return nil, fmt.Errorf("range %q: %w", cidr, err)
		}
		table.Insert(prefix)
	}
	return table, nil
}

// address is the client's, invalid if there is none. A header counts only from a peer
// that is trusted, and only if the right entry is an address; else the peer counts.
func (s *clientSource) address(view View) netip.Addr {
	peer := view.Peer()
	if s.setting.Header == "" || !peer.IsValid() || !s.trusted.Contains(peer.WithZone("").Unmap()) {
		return plainAddress(peer)
	}
	entry, found := entryFromRight(view.Header(s.setting.Header), s.setting.TrustedHops)
	if !found {
		return plainAddress(peer)
	}
	client, ok := parseForwarded(entry)
	if !ok {
		return plainAddress(peer)
	}
	return plainAddress(client)
}

// knownClient is what was found out about the client of a request.
type knownClient struct {
	source  *clientSource
	address netip.Addr
	// network is the text of the client's network, empty if there is no address.
	network string
}

// fewClients is how many settings of clientIP are remembered for a request: more make
// it look again.
const fewClients = 2

// client is the request's client by a setting of clientIP.
func (r *request) client(source *clientSource) knownClient {
	for i := range r.clients {
		if r.clients[i].source == source {
			return r.clients[i]
		}
	}
	found := knownClient{source: source, address: source.address(r.view)}
	if network := ClientNetwork(found.address, source.setting.IPv6PrefixLength); network.IsValid() {
		found.network = networkText(network)
	}
	for i := range r.clients {
		if r.clients[i].source == nil {
			r.clients[i] = found
			break
		}
	}
	return found
}
