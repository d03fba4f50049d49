// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package proxy

import (
	"bytes"
	"errors"
	"io"
	"net"
	"os"
	"testing"
	"time"

	"golang.org/x/net/http2"
	"golang.org/x/net/http2/hpack"
)

// frames is a client that speaks HTTP/2 frame by frame.
type frames struct {
	*http2.Framer
	t       *testing.T
	conn    net.Conn
	block   bytes.Buffer
	encoder *hpack.Encoder
}

// dialFrames opens a connection of HTTP/2 to the server.
func (f *fixture) dialFrames(t *testing.T) *frames {
	t.Helper()
	conn, reader := f.dial(t)
	c := &frames{t: t, conn: conn, Framer: http2.NewFramer(conn, reader)}
	c.encoder = hpack.NewEncoder(&c.block)
	c.ReadMetaHeaders = hpack.NewDecoder(4096, nil)
	if _, err := io.WriteString(conn, http2.ClientPreface); err != nil {
		t.Fatal(err)
	}
	c.must(c.WriteSettings())
	c.must(c.WriteSettingsAck())
	return c
}

func (c *frames) must(err error) {
	c.t.Helper()
	if err != nil {
		c.t.Fatal(err)
	}
}

// encode returns a block of fields, given as name, value, name, value.
func (c *frames) encode(fields ...string) []byte {
	c.t.Helper()
	c.block.Reset()
	for i := 0; i < len(fields); i += 2 {
		c.must(c.encoder.WriteField(hpack.HeaderField{Name: fields[i], Value: fields[i+1]}))
	}
	return bytes.Clone(c.block.Bytes())
}

// get are the fields of a GET, with more.
func get(more ...string) []string {
	return append([]string{":method", "GET", ":scheme", "http", ":authority", "a", ":path", "/"}, more...)
}

// request sends a header, and no body.
func (c *frames) request(stream uint32, fields ...string) {
	c.t.Helper()
	c.must(c.WriteHeaders(http2.HeadersFrameParam{StreamID: stream, BlockFragment: c.encode(fields...), EndStream: true, EndHeaders: true}))
}

// next returns the next frame that is wanted, or nil at the end of the connection.
func (c *frames) next(wanted func(http2.Frame) bool) http2.Frame {
	c.t.Helper()
	if err := c.conn.SetReadDeadline(time.Now().Add(patience)); err != nil {
		c.t.Fatal(err)
	}
	for range 100_000 {
		frame, err := c.ReadFrame()
		if errors.Is(err, os.ErrDeadlineExceeded) {
			c.t.Fatalf("no such frame within %v", patience)
		}
		if err != nil {
			return nil
		}
		if wanted(frame) {
			return frame
		}
	}
	c.t.Fatal("no such frame among 100,000")
	return nil
}

// answer is what came of a stream: its header, or how it was reset.
func (c *frames) answer(stream uint32) (header *http2.MetaHeadersFrame, reset *http2.RSTStreamFrame) {
	c.t.Helper()
	frame := c.next(func(frame http2.Frame) bool {
		switch frame.(type) {
		case *http2.MetaHeadersFrame, *http2.RSTStreamFrame:
			return frame.Header().StreamID == stream
		}
		return false
	})
	header, _ = frame.(*http2.MetaHeadersFrame)
	reset, _ = frame.(*http2.RSTStreamFrame)
	return header, reset
}

func isGoAway(frame http2.Frame) bool {
	_, is := frame.(*http2.GoAwayFrame)
	return is
}

// http2HeadersOf is a whole header without a body.
func http2HeadersOf(stream uint32, block []byte) http2.HeadersFrameParam {
	return http2.HeadersFrameParam{StreamID: stream, BlockFragment: block, EndStream: true, EndHeaders: true}
}
