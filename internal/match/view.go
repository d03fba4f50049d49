// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package match

import "net/netip"

// View is what matching sees of a request, so that any HTTP stack can ask.
type View interface {
	// Method is the method as sent.
	Method() string
	// Target is the request target as sent, query included.
	Target() string
	// Host is the authority as sent: the Host field or :authority.
	Host() string
	// Scheme is "http" or "https", as the request came in here.
	Scheme() string
	// Header returns the values of all fields of a name, which is given in
	// lower case; nil where there is none.
	Header(name string) []string
	// Peer is the address that the request came from.
	Peer() netip.Addr
	// LocalPort is the number of the app's port that the request is for.
	LocalPort() int32
}
