// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package proxy

import (
	"log/slog"
	"net/http"
	"net/http/httputil"
	"net/url"
	"sync"
)

// copyBufferBytes is the length of the buffers that bodies are copied through.
const copyBufferBytes = 32 << 10

// newForwarder makes the reverse proxy to one port of the app.
func newForwarder(upstream *url.URL, transport *protocolTransport, preserveForwardedFor bool, failed func(http.ResponseWriter, *http.Request, error), logger *slog.Logger) *httputil.ReverseProxy {
	return &httputil.ReverseProxy{
		Rewrite: func(request *httputil.ProxyRequest) {
			out, in := request.Out, request.In
			transport.address(out, in, upstream)
			forwardTarget(out.URL, in.URL, in.RequestURI)
			keepOnlyWebSocket(out.Header)
			peer := ""
			if address := peerOf(in); address.IsValid() && !preserveForwardedFor {
				peer = address.String()
			}
			passForwarded(out.Header, in.Header, peer)
			// HTTP/2 of net/http never ends a request that has a trailer and no body.
			out.Trailer = nil
			if out.Body != nil {
				// Only here: net/http must find its own body in the inbound
				// request, or it would read one that was not to be sent.
				out.Body = &inboundBody{ReadCloser: out.Body, trailer: ruleForTrailer(in.Trailer)}
				// Values of trailers arrive after the body: both must be one map.
				out.Trailer = in.Trailer
			}
		},
		Transport:      transport,
		BufferPool:     &bufferPool{},
		ModifyResponse: checkUpgrade,
		ErrorHandler:   failed,
		ErrorLog:       slog.NewLogLogger(logger.Handler(), slog.LevelDebug),
	}
}

// bufferPool lends the buffers that bodies are copied through.
type bufferPool struct{ pool sync.Pool }

func (b *bufferPool) Get() []byte {
	if buffer, ok := b.pool.Get().(*[copyBufferBytes]byte); ok {
		return buffer[:]
	}
	return make([]byte, copyBufferBytes)
}

func (b *bufferPool) Put(buffer []byte) { b.pool.Put((*[copyBufferBytes]byte)(buffer)) }
