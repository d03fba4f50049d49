// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package proxy

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"golang.org/x/net/http2"
)

// streamingApp answers in two pieces, the second once it is told to.
func streamingApp(goOn chan struct{}) http.HandlerFunc {
	return func(w http.ResponseWriter, request *http.Request) {
		if request.URL.Path != "/stream" {
			okApp(w, request)
			return
		}
		_, _ = io.WriteString(w, "first.")
		_ = http.NewResponseController(w).Flush()
		select {
		case <-goOn:
		case <-request.Context().Done():
		}
		_, _ = io.WriteString(w, "second")
	}
}

func isData(frame http2.Frame) bool {
	data, is := frame.(*http2.DataFrame)
	return is && len(data.Data()) > 0
}

// TestDrainTellsHTTP2ToGo holds that all clients are told at once, that streams live
// on, and that new connections are still served.
func TestDrainTellsHTTP2ToGo(t *testing.T) {
	t.Parallel()
	goOn := make(chan struct{})
	f := start(t, startH2CApp(t, streamingApp(goOn)), nil, nil)
	idle, busy := f.dialFrames(t), f.dialFrames(t)
	idle.request(1, get()...)
	if header, _ := idle.answer(1); header == nil {
		t.Fatal("no answer before the drain")
	}
	busy.request(1, ":method", "GET", ":scheme", "http", ":authority", "a", ":path", "/stream")
	if busy.next(isData) == nil {
		t.Fatal("no stream before the drain")
	}

	f.server.Drain()
	for name, client := range map[string]*frames{"idle": idle, "with a stream": busy} {
		goAway, _ := client.next(isGoAway).(*http2.GoAwayFrame)
		if goAway == nil || goAway.LastStreamID != 1 || goAway.ErrCode != http2.ErrCodeNo {
			t.Fatalf("the client that is %s is told %v, want a graceful GOAWAY that knows its stream", name, goAway)
		}
	}
	fresh := f.dialFrames(t)
	fresh.request(1, get()...)
	isAnswered, isTold := false, false
	fresh.next(func(frame http2.Frame) bool {
		header, is := frame.(*http2.MetaHeadersFrame)
		isAnswered = isAnswered || is && header.PseudoValue("status") == "200"
		isTold = isTold || isGoAway(frame)
		return isAnswered && isTold
	})
	if !isAnswered || !isTold {
		t.Errorf("a new connection while draining is answered with 200: %v, and told to go: %v, want both", isAnswered, isTold)
	}
	close(goOn)
	data, _ := busy.next(isData).(*http2.DataFrame)
	if data == nil || string(data.Data()) != "second" {
		t.Errorf("the rest of the stream is %v, want it", data)
	}
}

// TestStreamsEndAtTheDeadline holds that a stream cannot hold up the end.
func TestStreamsEndAtTheDeadline(t *testing.T) {
	t.Parallel()
	for name, drain := range map[string]bool{"after a drain": true, "at once": false} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := startBare(t, startH2CApp(t, streamingApp(nil)), nil, Options{Bounds: Bounds{ShutdownTimeout: 100 * time.Millisecond}})
			f.server.SetRules(rulesOf(t))
			c := f.dialFrames(t)
			c.request(1, ":method", "GET", ":scheme", "http", ":authority", "a", ":path", "/stream")
			if c.next(isData) == nil {
				t.Fatal("no stream")
			}
			if drain {
				f.server.Drain()
				if c.next(isGoAway) == nil {
					t.Fatal("no GOAWAY")
				}
			}
			if err := f.stop(); err != nil {
				t.Errorf("Run = %v, want nil", err)
			}
			if frame := c.next(isData); frame != nil {
				t.Errorf("the stream goes on with %v", frame)
			}
		})
	}
}

// TestAppThatIsGoneIsNotAnsweredFor holds that callers who come between the app's end
// and ours see a closed connection, as they would without us.
func TestAppThatIsGoneIsNotAnsweredFor(t *testing.T) {
	t.Parallel()
	app := httptest.NewServer(http.HandlerFunc(okApp))
	f := start(t, app.URL, nil, nil)
	var conns []net.Conn
	var readers []*bufio.Reader
	for range 3 {
		conn, reader := f.dial(t)
		fmt.Fprint(conn, "GET / HTTP/1.1\r\nHost: a\r\n\r\n")
		if _, err := readHead(reader); err != nil {
			t.Fatal(err)
		}
		if _, err := reader.Discard(len("ok")); err != nil {
			t.Fatal(err)
		}
		conns, readers = append(conns, conn), append(readers, reader)
	}
	f.server.Drain()
	app.Close()
	for i, conn := range conns {
		fmt.Fprint(conn, "GET / HTTP/1.1\r\nHost: a\r\n\r\n")
		if answer, _ := io.ReadAll(readers[i]); len(answer) > 0 {
			t.Errorf("request %d got %q, want no answer", i, answer)
		}
	}
	waitForRefusal(t, f.address)
}

// TestAppThatIsGoneWithoutADrain is a crash: its callers are told whose.
func TestAppThatIsGoneWithoutADrain(t *testing.T) {
	t.Parallel()
	f := start(t, closedAddress(t), nil, nil)
	c := f.dialFrames(t)
	c.request(1, get()...)
	if header, _ := c.answer(1); header == nil || header.PseudoValue("status") != "502" {
		t.Errorf("the answer is %v, want 502", header)
	}
}
