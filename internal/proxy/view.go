// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package proxy

import (
	"net/http"
	"net/netip"
	"net/textproto"
	"strings"

	"github.com/penstock-dev/penstock/internal/match"
)

// requestView shows a request of net/http to the matcher.
type requestView struct {
	request *http.Request
	appPort int32
}

var _ match.View = (*requestView)(nil)

func (v *requestView) Method() string   { return v.request.Method }
func (v *requestView) Target() string   { return v.request.RequestURI }
func (v *requestView) Host() string     { return v.request.Host }
func (v *requestView) Scheme() string   { return "http" }
func (v *requestView) LocalPort() int32 { return v.appPort }
func (v *requestView) Peer() netip.Addr { return peerOf(v.request) }

// HeaderNames are those of the fields that the app will see.
func (v *requestView) HeaderNames() []string {
	names := make([]string, 0, len(v.request.Header))
	for name := range v.request.Header {
		if name := strings.ToLower(name); v.Header(name) != nil {
			names = append(names, name)
		}
	}
	return names
}

// Header returns what the app will see: a field that the client named in
// Connection ends here, or a client could be counted by a key of its choice and
// be nobody to the app.
func (v *requestView) Header(name string) []string {
	for _, line := range v.request.Header["Connection"] {
		for token := range strings.SplitSeq(line, ",") {
			if strings.EqualFold(textproto.TrimString(token), name) && !isForwarded(name) {
				return nil
			}
		}
	}
	return v.request.Header.Values(name)
}

// peerOf is the address that a request came from. It is invalid where the
// listener's addresses are not IP addresses.
func peerOf(request *http.Request) netip.Addr {
	peer, err := netip.ParseAddrPort(request.RemoteAddr)
	if err != nil {
		return netip.Addr{}
	}
	return peer.Addr().WithZone("").Unmap()
}
