// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build !linux

package proxy

import (
	"net"
	"net/http"
)

// awaitProtocol tells nothing here: the sidecar runs on Linux. The server for all
// other connections tells HTTP/2 by itself; TLS is not passed through.
func awaitProtocol(*net.TCPConn) (protocol, error) { return protocolHTTP1, nil }

func plainProtocols() *http.Protocols {
	protocols := &http.Protocols{}
	protocols.SetHTTP1(true)
	protocols.SetUnencryptedHTTP2(true)
	return protocols
}
