// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package proxy

import "bytes"

// protocol is what a client speaks first on a connection.
type protocol int

const (
	// protocolHTTP1 is also anything that is none of the others: the HTTP/1 server
	// tells its client so.
	protocolHTTP1 protocol = iota
	// protocolHTTP2 is HTTP/2 with prior knowledge (h2c).
	protocolHTTP2
	protocolTLS
)

// http2Preface is how a connection of HTTP/2 begins; the rest of the preface is for
// the server to check.
const http2Preface = "PRI * HTTP/2.0"

// tlsHandshake is the first byte of a TLS ClientHello (RFC 8446, section 5.1), which
// is no letter of any method.
const tlsHandshake = 0x16

// protocolOf tells the protocol by a connection's first bytes, of which there is at
// least one. It reports false where they are too few to tell.
func protocolOf(head []byte) (protocol, bool) {
	switch {
	case head[0] == tlsHandshake:
		return protocolTLS, true
	case bytes.HasPrefix(head, []byte(http2Preface)):
		return protocolHTTP2, true
	case bytes.HasPrefix([]byte(http2Preface), head):
		return protocolHTTP1, false
	}
	return protocolHTTP1, true
}
