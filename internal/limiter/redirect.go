// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package limiter

import (
	"net"

	"github.com/redis/go-redis/v9"
)

// redirect is what a node of a cluster answers about a slot that it does not have,
// or not wholly. Nothing was executed then.
type redirect struct {
	// address is who is to be asked, empty for the same node.
	address string
	// asking says that it is to be told that it may answer already.
	asking bool
}

// redirectIn is what an error says of another node.
func redirectIn(err error) (redirect, bool) {
	if address, moved := redis.IsMovedError(err); moved {
		return redirect{address: normalAddress(address)}, true
	}
	if address, ask := redis.IsAskError(err); ask {
		return redirect{address: normalAddress(address), asking: true}, true
	}
	return redirect{}, redis.IsTryAgainError(err)
}

// addressFrom is who is to be asked, as a node says. Nodes that do not know by which name
// they are reached tell a port alone: that of the host that was asked.
func (to redirect) addressFrom(asked *node) string {
	host, port, err := net.SplitHostPort(to.address)
	if err != nil || host != "" || asked == nil {
		return to.address
	}
	if host, _, err = net.SplitHostPort(asked.address); err != nil {
		return to.address
	}
	return net.JoinHostPort(host, port)
}

// normalAddress is an address as nodes are known by: a redirect has no brackets
// around an IPv6 host.
func normalAddress(address string) string {
	for i := len(address) - 1; i >= 0; i-- {
		if address[i] == ':' {
			host := address[:i]
			if len(host) > 1 && host[0] == '[' && host[len(host)-1] == ']' {
				host = host[1 : len(host)-1]
			}
			return net.JoinHostPort(host, address[i+1:])
		}
	}
	return address
}
