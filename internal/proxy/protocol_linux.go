// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package proxy

import (
	"io"
	"net"
	"net/http"

	"golang.org/x/sys/unix"
)

// awaitProtocol waits until a client has said enough to tell what it speaks, within
// the connection's read deadline, and takes nothing of it off the connection.
func awaitProtocol(conn *net.TCPConn) (protocol, error) {
	raw, err := conn.SyscallConn()
	if err != nil {
		return 0, err
	}
	var found protocol
	var failure error
	// The function is called again only when more has arrived, not in a loop on what
	// is there: the poller is edge-triggered.
	err = raw.Read(func(fd uintptr) bool {
		var head [len(http2Preface)]byte
		n, _, err := unix.Recvfrom(int(fd), head[:], unix.MSG_PEEK|unix.MSG_DONTWAIT)
		switch {
		case err == unix.EAGAIN || err == unix.EINTR:
			return false
		case err != nil:
			failure = err
			return true
		case n == 0:
			failure = io.EOF
			return true
		}
		var isKnown bool
		found, isKnown = protocolOf(head[:n])
		return isKnown || hasEnded(int(fd))
	})
	if err == nil {
		err = failure
	}
	return found, err
}

// hasEnded reports whether a peer will send no more than what has arrived.
func hasEnded(fd int) bool {
	state := []unix.PollFd{{Fd: int32(fd), Events: unix.POLLRDHUP}}
	ready, err := unix.Poll(state, 0)
	return err != nil || ready > 0
}

// plainProtocols are those of the server for all connections that are neither HTTP/2
// nor TLS.
func plainProtocols() *http.Protocols {
	protocols := &http.Protocols{}
	protocols.SetHTTP1(true)
	return protocols
}
