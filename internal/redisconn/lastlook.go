// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package redisconn

import (
	"errors"
	"net"
	"os"
	"time"
)

// LastLook is how much longer than its deadline a call may take: for so long it is
// looked whether the answer is there after all.
const LastLook = 2 * time.Millisecond

// lastLook is a connection whose reads look once more after their deadline. When
// this process got no CPU for a while, the deadline is noticed before the answer that
// came in time and waits in the socket.
type lastLook struct {
	net.Conn
	looked bool
}

// SetDeadline implements net.Conn.
func (l *lastLook) SetDeadline(at time.Time) error {
	l.looked = false
	return l.Conn.SetDeadline(at)
}

// SetReadDeadline implements net.Conn.
func (l *lastLook) SetReadDeadline(at time.Time) error {
	l.looked = false
	return l.Conn.SetReadDeadline(at)
}

// Read implements net.Conn.
func (l *lastLook) Read(into []byte) (int, error) {
	count, err := l.Conn.Read(into)
	if count > 0 || l.looked || !errors.Is(err, os.ErrDeadlineExceeded) {
		return count, err
	}
	l.looked = true
	if failed := l.Conn.SetReadDeadline(time.Now().Add(LastLook)); failed != nil {
		return 0, err
	}
	return l.Conn.Read(into)
}
