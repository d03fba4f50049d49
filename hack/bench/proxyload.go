// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"strconv"
	"sync"
	"sync/atomic"
	"time"
)

// connection sends prepared requests and reads the answers with as little work as
// can be.
type connection struct {
	conn   net.Conn
	reader *bufio.Reader
	client int
}

func dial(ctx context.Context, address string) (*connection, error) {
	conn, err := (&net.Dialer{Timeout: 5 * time.Second}).DialContext(ctx, "tcp", address)
	if err != nil {
		return nil, fmt.Errorf("connect to what is measured: %w", err)
	}
	return &connection{conn: conn, reader: bufio.NewReaderSize(conn, 16<<10)}, nil
}

// requestTexts are the requests of the clients.
var requestTexts = sync.OnceValue(func() [][]byte {
	texts := make([][]byte, clients)
	for i := range texts {
		texts[i] = fmt.Appendf(nil, "GET /api/items?page=1 HTTP/1.1\r\nHost: app.example\r\nUser-Agent: bench\r\nAccept: */*\r\nX-Api-Key: client-%d\r\n\r\n", i)
	}
	return texts
})

// send sends a request of the next client and returns the status of the answer.
func (c *connection) send() (status int, err error) {
	c.client = (c.client + 1) % clients
	if _, err := c.conn.Write(requestTexts()[c.client]); err != nil {
		return 0, fmt.Errorf("send a request: %w", err)
	}
	length := -1
	for first := true; ; first = false {
		line, err := c.reader.ReadSlice('\n')
		if err != nil {
			return 0, fmt.Errorf("read an answer: %w", err)
		}
		line = bytes.TrimRight(line, "\r\n")
		if first {
			if len(line) < 12 {
				return 0, fmt.Errorf("read an answer: %q is no status line", line)
			}
			if status, err = strconv.Atoi(string(line[9:12])); err != nil {
				return 0, fmt.Errorf("read an answer: %w", err)
			}
			continue
		}
		if len(line) == 0 {
			break
		}
		const name = "content-length:"
		if len(line) > len(name) && bytes.EqualFold(line[:len(name)], []byte(name)) {
			if length, err = strconv.Atoi(string(bytes.TrimSpace(line[len(name):]))); err != nil {
				return 0, fmt.Errorf("read an answer: %w", err)
			}
		}
	}
	if length < 0 {
		return 0, errors.New("read an answer: it has no Content-Length")
	}
	_, err = c.reader.Discard(length)
	return status, err
}

// load is a number of connections to what is measured.
type load struct {
	connections []*connection
	// want is the status that every answer must have.
	want      int
	answered  atomic.Int64
	latencies histogram
}

func openLoad(ctx context.Context, address string, connections, want int) (*load, error) {
	l := &load{want: want}
	for i := range connections {
		c, err := dial(ctx, address)
		if err != nil {
			l.close()
			return nil, err
		}
		c.client = i * clients / connections
		l.connections = append(l.connections, c)
	}
	return l, nil
}

func (l *load) close() {
	for _, c := range l.connections {
		_ = c.conn.Close()
	}
}

// start has each connection send until the context ends, and returns what waits for
// them. With a rate, requests are due at equal distances, and their latency counts
// from when they were due if a connection was late for them.
func (l *load) start(ctx context.Context, rate float64) (finish func() error) {
	var running sync.WaitGroup
	var number atomic.Int64
	var failed atomic.Pointer[error]
	began := time.Now()
	for _, c := range l.connections {
		running.Go(func() {
			for ctx.Err() == nil {
				from := time.Now()
				if rate > 0 {
					from = awaitDue(ctx, began.Add(time.Duration(float64(number.Add(1))/rate*float64(time.Second))))
				}
				if err := l.sendFrom(c, from); err != nil {
					failed.CompareAndSwap(nil, &err)
					return
				}
			}
		})
	}
	return func() error {
		running.Wait()
		if err := failed.Load(); err != nil {
			return *err
		}
		return nil
	}
}

// awaitDue waits until a request is due. A timer that fires late is not the proxy's
// fault: the latency then counts from when it did.
func awaitDue(ctx context.Context, due time.Time) time.Time {
	if left := time.Until(due); left > 0 {
		wait(ctx, left)
		return time.Now()
	}
	return due
}

func (l *load) sendFrom(c *connection, from time.Time) error {
	status, err := c.send()
	if errors.Is(err, io.EOF) {
		return fmt.Errorf("the connection was closed: %w", err)
	}
	if err == nil && status != l.want {
		err = fmt.Errorf("an answer has status %d, want %d", status, l.want)
	}
	l.latencies.add(time.Since(from))
	l.answered.Add(1)
	return err
}
