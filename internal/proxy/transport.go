// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package proxy

import (
	"cmp"
	"context"
	"net"
	"net/http"
	"net/url"
)

// plainScheme is that of an upstream without TLS.
const plainScheme = "http"

// upstreamStreamBuffer is how much of an answer the app may send ahead of its client
// on one stream of HTTP/2. There is no such bound for a whole connection: on it all
// streams of a client meet, and slow ones would hold up the others.
const upstreamStreamBuffer = 128 << 10

// protocolTransport makes the connections to the app, which is spoken to as its
// clients speak: HTTP/2 goes out as HTTP/2, all else as HTTP/1.1.
type protocolTransport struct {
	http1, http2 *http.Transport
	// perClient says that clients of HTTP/2 have connections of their own.
	perClient bool
}

// newTransport returns a transport without a timeout for answers: how long an app may
// take is between it and its client.
func newTransport(bounds Bounds) *protocolTransport {
	transport := func(protocols *http.Protocols) *http.Transport {
		dialer := &net.Dialer{Timeout: bounds.DialTimeout}
		return &http.Transport{
			DialContext:           dialer.DialContext,
			MaxIdleConnsPerHost:   bounds.MaxIdleUpstream,
			IdleConnTimeout:       bounds.UpstreamIdleTimeout,
			ExpectContinueTimeout: bounds.ExpectContinueTimeout,
			// Compression is between the client and the app.
			DisableCompression: true,
			Protocols:          protocols,
		}
	}
	var http1, http2 http.Protocols
	http1.SetHTTP1(true)
	http2.SetUnencryptedHTTP2(true)
	http2.SetHTTP2(true)
	t := &protocolTransport{http1: transport(&http1), http2: transport(&http2)}
	t.http2.HTTP2 = &http.HTTP2Config{MaxReceiveBufferPerStream: upstreamStreamBuffer}
	return t
}

// forPort is the transport with connections of HTTP/2 to one upstream, of which every
// client has its own as it would without us: they have one bound for all bodies that
// the app has not read yet, and a client that reaches it would hold up the others.
func (t *protocolTransport) forPort(upstream *url.URL, bounds Bounds) *protocolTransport {
	if upstream.Scheme != plainScheme {
		return t
	}
	own := &protocolTransport{http1: t.http1, http2: t.http2.Clone(), perClient: true}
	dialer := &net.Dialer{Timeout: bounds.DialTimeout}
	address := net.JoinHostPort(upstream.Hostname(), cmp.Or(upstream.Port(), plainScheme))
	own.http2.DialContext = func(ctx context.Context, network, _ string) (net.Conn, error) {
		conn, err := dialer.DialContext(ctx, network, address)
		if err != nil {
			return nil, err
		}
		return &shortFrames{Conn: conn}, nil
	}
	return own
}

// address gives a request the place that it is sent to. Connections are shared by the
// requests whose place has one name.
func (t *protocolTransport) address(out, in *http.Request, upstream *url.URL) {
	out.URL.Scheme, out.URL.Host = upstream.Scheme, upstream.Host
	if t.perClient && in.ProtoMajor == 2 {
		out.Host = cmp.Or(out.Host, upstream.Host)
		out.URL.Host = in.RemoteAddr
	}
}

// RoundTrip sends a request to the app.
func (t *protocolTransport) RoundTrip(request *http.Request) (*http.Response, error) {
	if request.ProtoMajor == 2 {
		return t.http2.RoundTrip(request)
	}
	return t.http1.RoundTrip(request)
}

// CloseIdleConnections closes the connections that no request uses.
func (t *protocolTransport) CloseIdleConnections() {
	t.http1.CloseIdleConnections()
	t.http2.CloseIdleConnections()
}
