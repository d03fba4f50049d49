// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package proxy

import (
	"bufio"
	"crypto/sha256"
	"encoding/hex"
	"io"
	"net"
	"net/http"
	"strconv"
	"sync"
	"testing"
)

// message is what one side sees of a request or an answer.
type message struct {
	// Start is method, target and host of a request, and the status of an answer.
	Start string
	// Fields and Trailer are by canonical name, values in order.
	Fields, Trailer http.Header
	// Body is its length and hash.
	Body string
	// Early are the fields of interim answers.
	Early []http.Header
}

// sameApp answers each exchange as it says, and remembers what it saw. It speaks on
// bare connections: a library would put its own order and fields into the answers.
type sameApp struct {
	seed     uint64
	listener net.Listener
	conns    sync.WaitGroup

	mu   sync.Mutex
	seen map[uint64]message
}

func startSameApp(t *testing.T, seed uint64) *sameApp {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	a := &sameApp{seed: seed, listener: listener, seen: map[uint64]message{}}
	a.conns.Go(func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			a.conns.Go(func() { a.serve(conn) })
		}
	})
	t.Cleanup(func() { _ = listener.Close() })
	return a
}

func (a *sameApp) address() string { return a.listener.Addr().String() }

// serve answers one connection until it ends.
func (a *sameApp) serve(conn net.Conn) {
	defer func() { _ = conn.Close() }()
	for reader := bufio.NewReader(conn); ; {
		request, err := http.ReadRequest(reader)
		if err != nil {
			return
		}
		if request.Header.Get("Expect") != "" {
			_, _ = io.WriteString(conn, "HTTP/1.1 100 Continue\r\n\r\n")
		}
		body, err := io.ReadAll(request.Body)
		number, numberErr := strconv.ParseUint(request.Header.Get(caseField), 10, 64)
		if err != nil || numberErr != nil {
			return
		}
		a.mu.Lock()
		a.seen[number] = message{
			Start:  request.Method + " " + request.RequestURI + " for " + request.Host,
			Fields: request.Header, Trailer: request.Trailer, Body: digest(body),
		}
		a.mu.Unlock()
		answer := newExchange(a.seed, number).answer
		if _, err := conn.Write(answer.text(request.Method)); err != nil || answer.framing == byClose {
			return
		}
	}
}

// saw returns what arrived of an exchange.
func (a *sameApp) saw(number uint64) message {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.seen[number]
}

func digest(body []byte) string {
	sum := sha256.Sum256(body)
	return strconv.Itoa(len(body)) + " bytes " + hex.EncodeToString(sum[:6])
}

// caller sends exchanges one after the other on a connection that it keeps.
type caller struct {
	address string
	conn    net.Conn
	reader  *bufio.Reader
}

func (c *caller) close() {
	if c.conn != nil {
		_ = c.conn.Close()
		c.conn = nil
	}
}

// send sends an exchange and returns the answer.
func (c *caller) send(e *exchange) (message, error) {
	if c.conn == nil {
		conn, err := net.Dial("tcp", c.address)
		if err != nil {
			return message{}, err
		}
		c.conn, c.reader = conn, bufio.NewReaderSize(conn, 64<<10)
	}
	got, ends, err := c.exchange(e)
	if err != nil || ends {
		c.close()
	}
	return got, err
}

func (c *caller) exchange(e *exchange) (got message, ends bool, err error) {
	if _, err := c.conn.Write(e.head()); err != nil {
		return got, false, err
	}
	if !e.expect {
		if _, err := c.conn.Write(e.rest()); err != nil {
			return got, false, err
		}
	}
	for {
		answer, err := http.ReadResponse(c.reader, &http.Request{Method: e.method})
		if err != nil {
			return got, false, err
		}
		switch {
		case answer.StatusCode == http.StatusContinue:
			if _, err := c.conn.Write(e.rest()); err != nil {
				return got, false, err
			}
		case answer.StatusCode < http.StatusOK:
			got.Early = append(got.Early, answer.Header)
		default:
			body, err := io.ReadAll(answer.Body)
			got.Start, got.Fields = strconv.Itoa(answer.StatusCode), answer.Header
			got.Trailer, got.Body = answer.Trailer, digest(body)
			return got, answer.Close, err
		}
	}
}
