// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"context"
	"fmt"
	"log"
	"net"
	"net/http"
	"net/http/httputil"
	"net/url"
	"os"
	"strings"
	"sync"
	"time"
)

// answerBytes is how long the app's answers are.
const answerBytes = 1024

// answerText is an answer of the app.
var answerText = fmt.Sprintf("HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nDate: Sun, 06 Nov 1994 08:49:37 GMT\r\nContent-Length: %d\r\n\r\n%s",
	answerBytes, strings.Repeat("x", answerBytes))

var endOfHead = []byte("\r\n\r\n")

// startApp serves until the context ends. It does next to nothing for a request, as
// it shares a core with the load: what is measured is the proxy in front.
func startApp(ctx context.Context) (address string, err error) {
	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return "", fmt.Errorf("start the app: %w", err)
	}
	context.AfterFunc(ctx, func() { _ = listener.Close() })
	go func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			go serveApp(conn)
		}
	}()
	return listener.Addr().String(), nil
}

// serveApp answers requests without bodies.
func serveApp(conn net.Conn) {
	defer func() { _ = conn.Close() }()
	answer, buffer, filled := []byte(answerText), make([]byte, 8<<10), 0
	for {
		n, err := conn.Read(buffer[filled:])
		if err != nil {
			return
		}
		filled += n
		for end := bytes.Index(buffer[:filled], endOfHead); end >= 0; end = bytes.Index(buffer[:filled], endOfHead) {
			filled = copy(buffer, buffer[end+len(endOfHead):filled])
			if _, err := conn.Write(answer); err != nil {
				return
			}
		}
	}
}

// reverseProxyRole is the first argument of this program when it is to be the bare
// reverse proxy; listen address and upstream follow.
const reverseProxyRole = "reverse-proxy"

// buffers lends what bodies are copied through.
type buffers struct{ pool sync.Pool }

func (b *buffers) Get() []byte {
	if buffer, ok := b.pool.Get().(*[32 << 10]byte); ok {
		return buffer[:]
	}
	return make([]byte, 32<<10)
}

func (b *buffers) Put(buffer []byte) { b.pool.Put((*[32 << 10]byte)(buffer)) }

// serveReverseProxy is httputil.ReverseProxy with a buffer pool and nothing else.
func serveReverseProxy(listen, upstream string) error {
	target := &url.URL{Scheme: "http", Host: upstream}
	server := &http.Server{Addr: listen, ReadHeaderTimeout: time.Minute, Handler: &httputil.ReverseProxy{
		Rewrite: func(request *httputil.ProxyRequest) {
			request.SetURL(target)
			request.SetXForwarded()
		},
		Transport:  &http.Transport{MaxIdleConnsPerHost: 1024, DisableCompression: true},
		BufferPool: &buffers{},
		ErrorLog:   log.New(os.Stderr, "", 0),
	}}
	return server.ListenAndServe()
}
