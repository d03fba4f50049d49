// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build unix

package redisconn

import (
	"errors"
	"net"
	"syscall"
	"time"
)

// isQuiet says that an idle connection is open and has nothing to read. A TLS
// connection may have records of the protocol itself to read.
func isQuiet(connection net.Conn) bool {
	wrapper, isWrapped := connection.(interface{ NetConn() net.Conn })
	if isWrapped {
		connection = wrapper.NetConn()
	}
	socket, ok := connection.(syscall.Conn)
	if !ok {
		return true
	}
	raw, err := socket.SyscallConn()
	// The last call's deadline has passed by now, and would end this look.
	if err != nil || connection.SetReadDeadline(time.Time{}) != nil {
		return false
	}
	quiet := false
	err = raw.Read(func(descriptor uintptr) bool {
		var first [1]byte
		count, _, err := syscall.Recvfrom(int(descriptor), first[:], syscall.MSG_PEEK|syscall.MSG_DONTWAIT)
		quiet = errors.Is(err, syscall.EAGAIN) || isWrapped && err == nil && count > 0
		return true
	})
	return err == nil && quiet
}
