// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package proxy

import (
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"testing"
)

// BenchmarkProxy compares the request path, without a rule and with one that is
// decided at once, with a bare reverse proxy of the standard library that has
// the same transport and buffer pool. All three run in one process with client
// and app, so the ratios count and not the numbers.
func BenchmarkProxy(b *testing.B) {
	app := startApp(b, func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "0123456789abcdef") })
	upstream, err := url.Parse(app)
	if err != nil {
		b.Fatal(err)
	}
	transport := newTransport(Bounds{}.withDefaults())
	b.Cleanup(transport.CloseIdleConnections)
	bare := httptest.NewServer(&httputil.ReverseProxy{
		Rewrite:   func(request *httputil.ProxyRequest) { request.SetURL(upstream); request.SetXForwarded() },
		Transport: transport, BufferPool: &bufferPool{},
	})
	b.Cleanup(bare.Close)
	noRule := start(b, app, nil, nil)
	oneRule := start(b, app, rulesOf(b, onePolicy()), admitting)
	for _, way := range []struct{ name, url string }{{"Direct", app}, {"Bare", bare.URL}, {"NoRule", noRule.url}, {"OneRule", oneRule.url}} {
		b.Run(way.name, func(b *testing.B) { drive(b, way.url) })
	}
}

// drive sends requests over as many connections as there are workers.
func drive(b *testing.B, url string) {
	connection := &http.Transport{MaxIdleConnsPerHost: 256, DisableCompression: true}
	defer connection.CloseIdleConnections()
	b.ReportAllocs()
	b.SetParallelism(16)
	b.RunParallel(func(worker *testing.PB) {
		for worker.Next() {
			request, err := http.NewRequest(http.MethodGet, url+"/items/1", nil)
			if err != nil {
				b.Error(err)
				return
			}
			response, err := connection.RoundTrip(request)
			if err != nil {
				b.Error(err)
				return
			}
			_, _ = io.Copy(io.Discard, response.Body)
			response.Body.Close()
		}
	})
}
