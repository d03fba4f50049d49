// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package proxy

import (
	"bufio"
	"net"
	"net/http"
	"net/textproto"
	"strconv"
	"strings"
)

// smallBody is how long a body may be and still be held until it is complete:
// header and body then leave in one packet.
const smallBody = 4096

// answerWriter is the way of every answer to the client, the app's and ours. It
// adds the fields about limits, and lets nothing wait in a buffer.
type answerWriter struct {
	http.ResponseWriter
	// fields tells about the limits that the request met; nil if none.
	fields *limitFields
	// isHTTP2 says that the answer goes out as HTTP/2.
	isHTTP2 bool
	// isClosing reports whether the connection is to end with this answer.
	isClosing func() bool
	// hijacked is told when the connection becomes a tunnel.
	hijacked func()

	wroteHeader bool
	// status is that of the final answer; 0 before there is one.
	status   int
	declared int64
	written  int64
}

// Unwrap lets http.ResponseController reach the server's own writer.
func (w *answerWriter) Unwrap() http.ResponseWriter { return w.ResponseWriter }

// WriteHeader sends an interim answer, or the header of the final one.
func (w *answerWriter) WriteHeader(status int) {
	if w.wroteHeader {
		return
	}
	if status == http.StatusContinue {
		// The server sends its own once the body is read, for which the app has asked
		// by now. This one would race with it, and the client might see two.
		return
	}
	header := w.Header()
	if status < http.StatusOK && status != http.StatusSwitchingProtocols {
		removeHopByHop(header)
		w.ResponseWriter.WriteHeader(status)
		return
	}
	w.wroteHeader, w.status = true, status
	if _, sent := header["Content-Type"]; !sent {
		// A nil entry keeps the server from guessing a type that the app
		// did not send.
		header["Content-Type"] = nil
	}
	if _, sent := header["Content-Length"]; w.isHTTP2 && !sent {
		// The same for the length: an answer of gRPC that is all header has none.
		header["Content-Length"] = nil
	}
	if w.isClosing() {
		header.Set("Connection", "close")
	}
	w.fields.addTo(header)
	w.declared = declaredLength(header)
	w.ResponseWriter.WriteHeader(status)
	if w.declared > smallBody {
		w.flush()
	}
}

// Write sends a piece of the body. A piece that does not complete a body of known
// length is flushed: the next one may be long in coming. The reverse proxy
// flushes bodies of unknown length itself.
func (w *answerWriter) Write(piece []byte) (int, error) {
	if !w.wroteHeader {
		w.WriteHeader(http.StatusOK)
	}
	n, err := w.ResponseWriter.Write(piece)
	w.written += int64(n)
	if err == nil && w.written < w.declared {
		w.flush()
	}
	return n, err
}

// flush may fail only where writing fails too, and that is noticed.
func (w *answerWriter) flush() { _ = http.NewResponseController(w.ResponseWriter).Flush() }

// Hijack hands the connection over for a WebSocket. The answer that opens it
// tells about limits as any other.
func (w *answerWriter) Hijack() (net.Conn, *bufio.ReadWriter, error) {
	w.fields.addTo(w.Header())
	conn, buffered, err := http.NewResponseController(w.ResponseWriter).Hijack()
	if err == nil {
		w.wroteHeader, w.status = true, http.StatusSwitchingProtocols
		w.hijacked()
	}
	return conn, buffered, err
}

// declaredLength is the answer's Content-Length, -1 if it has none.
func declaredLength(header http.Header) int64 {
	length, err := strconv.ParseInt(header.Get("Content-Length"), 10, 64)
	if err != nil {
		return -1
	}
	return length
}

// hopByHop are the fields that belong to one connection (RFC 9110, section 7.6.1).
var hopByHop = []string{"Connection", "Keep-Alive", "Proxy-Authenticate", "Proxy-Authorization", "Proxy-Connection", "Te", "Trailer", "Transfer-Encoding", "Upgrade"}

// removeHopByHop cleans an interim answer: net/http does it for final ones only
// (golang/go#81319).
func removeHopByHop(header http.Header) {
	for _, line := range header["Connection"] {
		for name := range strings.SplitSeq(line, ",") {
			header.Del(textproto.TrimString(name))
		}
	}
	for _, name := range hopByHop {
		header.Del(name)
	}
}
