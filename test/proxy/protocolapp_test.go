// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package proxy

import (
	"crypto/sha256"
	"fmt"
	"io"
	"net"
	"net/http"
	"strconv"
	"strings"
	"testing"

	"github.com/coder/websocket"

	"github.com/penstock-dev/penstock/test/proxyrun"
)

// startApp runs an app that speaks HTTP/1 and HTTP/2 without TLS at one address.
func startApp(t *testing.T, handler http.Handler) string {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	var protocols http.Protocols
	protocols.SetHTTP1(true)
	protocols.SetUnencryptedHTTP2(true)
	app := &http.Server{Handler: handler, Protocols: &protocols, ReadHeaderTimeout: proxyrun.Patience}
	go func() { _ = app.Serve(listener) }()
	t.Cleanup(func() { _ = app.Close() })
	return listener.Addr().String()
}

// protocolApp shows what it is sent, and answers in each way that there is.
func protocolApp() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("/echo/", echo)
	mux.HandleFunc("/large", func(w http.ResponseWriter, r *http.Request) {
		size, _ := strconv.ParseInt(r.FormValue("size"), 10, 64)
		_, _ = io.CopyN(w, letters{}, size)
	})
	mux.HandleFunc("/status/{code}", func(w http.ResponseWriter, r *http.Request) {
		code, _ := strconv.Atoi(r.PathValue("code"))
		w.WriteHeader(code)
	})
	mux.HandleFunc("/events", events)
	mux.HandleFunc("/hints", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Link", "</style.css>; rel=preload")
		w.WriteHeader(http.StatusEarlyHints)
		w.Header().Del("Link")
		_, _ = io.WriteString(w, "after hints")
	})
	mux.HandleFunc("/early", func(w http.ResponseWriter, _ *http.Request) {
		// Only HTTP/1 needs to be asked.
		_ = http.NewResponseController(w).EnableFullDuplex()
		w.Header().Set("Connection", "close")
		w.WriteHeader(http.StatusRequestEntityTooLarge)
	})
	mux.HandleFunc("/trailers", func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(w, r.Body)
		_ = http.NewResponseController(w).Flush()
		w.Header().Set(http.TrailerPrefix+"X-Sum", "got "+r.Trailer.Get("X-Sent"))
	})
	mux.HandleFunc("/socket", echoSocket)
	mux.HandleFunc("/abort", func(w http.ResponseWriter, _ *http.Request) {
		_, _ = io.WriteString(w, "part")
		_ = http.NewResponseController(w).Flush()
		panic(http.ErrAbortHandler)
	})
	return mux
}

// echo says how it was asked, and what it was sent in short.
func echo(w http.ResponseWriter, r *http.Request) {
	hash := sha256.New()
	size, err := io.Copy(hash, r.Body)
	if err != nil {
		return
	}
	fmt.Fprintf(w, "%s %s %s %d %x", r.Proto, r.Method, r.RequestURI, size, hash.Sum(nil)[:4])
}

// echoed is what echo says of a body.
func echoed(proto, method, target, body string) string {
	hash := sha256.Sum256([]byte(body))
	return fmt.Sprintf("%s %s %s %d %x", proto, method, target, len(body), hash[:4])
}

// events sends three, each once the client asks for it with a byte of its body, or at
// once if there is none.
func events(w http.ResponseWriter, r *http.Request) {
	_ = http.NewResponseController(w).EnableFullDuplex()
	w.Header().Set("Content-Type", "text/event-stream")
	for i := range 3 {
		fmt.Fprintf(w, "data: %d\n\n", i)
		_ = http.NewResponseController(w).Flush()
		if r.Method != http.MethodPost {
			continue
		}
		if _, err := r.Body.Read(make([]byte, 1)); err != nil {
			return
		}
	}
}

func echoSocket(w http.ResponseWriter, r *http.Request) {
	socket, err := websocket.Accept(w, r, &websocket.AcceptOptions{Subprotocols: []string{"echo"}})
	if err != nil {
		return
	}
	defer func() { _ = socket.CloseNow() }()
	socket.SetReadLimit(16 << 20)
	for {
		kind, message, err := socket.Read(r.Context())
		if err != nil {
			return
		}
		if string(message) == "end" {
			_ = socket.Close(4321, "as asked")
			return
		}
		if err := socket.Write(r.Context(), kind, message); err != nil {
			return
		}
	}
}

// letters never end.
type letters struct{}

func (letters) Read(p []byte) (int, error) {
	return copy(p, strings.Repeat("penstock", len(p)/8+1)), nil
}
