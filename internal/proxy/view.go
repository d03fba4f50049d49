// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package proxy

import (
	"cmp"
	"maps"
	"net/http"
	"net/netip"
	"net/textproto"
	"slices"
	"strings"

	"golang.org/x/net/http/httpguts"

	"github.com/penstock-dev/penstock/internal/match"
)

// requestView shows a request of net/http to the matcher.
type requestView struct {
	request *http.Request
	appPort int32
	// appHost is what the app sees as host of a request that names none.
	appHost string
}

var _ match.View = (*requestView)(nil)

func (v *requestView) Method() string   { return v.request.Method }
func (v *requestView) Target() string   { return v.request.RequestURI }
func (v *requestView) Host() string     { return cmp.Or(v.request.Host, v.appHost) }
func (v *requestView) Scheme() string   { return "http" }
func (v *requestView) LocalPort() int32 { return v.appPort }
func (v *requestView) Peer() netip.Addr { return peerOf(v.request) }

// Header returns what the app will see: a field that the client named in
// Connection ends here, or a client could be counted by a key of its choice and
// be nobody to the app.
func (v *requestView) Header(name string) []string {
	canonical := http.CanonicalHeaderKey(name)
	if slices.Contains(hopByHop, canonical) {
		return v.hopByHop(canonical)
	}
	for _, line := range v.request.Header["Connection"] {
		for token := range strings.SplitSeq(line, ",") {
			if equalFoldASCII(textproto.TrimString(token), name) && !isForwarded(name) {
				return nil
			}
		}
	}
	return v.request.Header[canonical]
}

// hopByHop returns a field that ends here as the app will see it: written anew where what
// it is about goes on, whether the client names it in Connection or not.
func (v *requestView) hopByHop(canonical string) []string {
	header := v.request.Header
	switch canonical {
	case "Connection":
		if asksForWebSocket(header) {
			return []string{"Upgrade"}
		}
	case "Upgrade":
		if asksForWebSocket(header) {
			return header["Upgrade"][:1]
		}
	case "Te":
		if httpguts.HeaderValuesContainsToken(header["Te"], "trailers") {
			return []string{"trailers"}
		}
	case "Trailer":
		if len(v.request.Trailer) > 0 {
			return slices.Sorted(maps.Keys(v.request.Trailer))
		}
	case "Transfer-Encoding":
		return v.request.TransferEncoding
	}
	return nil
}

// equalFoldASCII reports whether text is an ASCII name in whatever case. Letters beyond
// ASCII that fold to one within (U+017F, U+212A) take more bytes: net/http, which removes
// fields, does not take them for the same.
func equalFoldASCII(text, name string) bool {
	return len(text) == len(name) && strings.EqualFold(text, name)
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
