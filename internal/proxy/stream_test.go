// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package proxy

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptrace"
	"net/textproto"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// TestAnswerIsNotHeldBack has apps that send a piece and then wait until the
// client has it: a buffer anywhere would be a deadlock.
func TestAnswerIsNotHeldBack(t *testing.T) {
	t.Parallel()
	tests := map[string]http.Header{
		"server-sent events":        {"Content-Type": {"text/event-stream"}},
		"unknown length":            {"Content-Type": {"text/plain"}},
		"known length":              {"Content-Length": {"12"}},
		"known length, large":       {"Content-Length": {"1000000"}},
		"known length, event-steam": {"Content-Type": {"text/event-stream"}, "Content-Length": {"12"}},
	}
	for name, header := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			received := make(chan struct{})
			app := startApp(t, func(w http.ResponseWriter, request *http.Request) {
				for field, values := range header {
					w.Header()[field] = values
				}
				_, _ = io.WriteString(w, "first.")
				_ = http.NewResponseController(w).Flush()
				select {
				case <-received:
				case <-request.Context().Done():
				}
				_, _ = io.WriteString(w, "second")
			})
			f := start(t, app, nil, nil)
			response, err := client(t).Get(f.url)
			if err != nil {
				t.Fatal(err)
			}
			defer response.Body.Close()
			piece := make([]byte, len("first."))
			if _, err := io.ReadFull(response.Body, piece); err != nil || string(piece) != "first." {
				t.Fatalf("first piece is %q, %v", piece, err)
			}
			close(received)
			rest, _ := io.ReadAll(response.Body)
			if string(rest) != "second" {
				t.Errorf("rest is %q, want %q", rest, "second")
			}
		})
	}
}

// TestHeaderArrivesBeforeTheBody has an app whose first piece comes late.
func TestHeaderArrivesBeforeTheBody(t *testing.T) {
	t.Parallel()
	for name, length := range map[string]string{"unknown length": "", "large": "100000"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			received := make(chan struct{})
			app := startApp(t, func(w http.ResponseWriter, request *http.Request) {
				if length != "" {
					w.Header().Set("Content-Length", length)
				}
				_ = http.NewResponseController(w).Flush()
				select {
				case <-received:
				case <-request.Context().Done():
				}
			})
			response, err := client(t).Get(start(t, app, nil, nil).url)
			if err != nil {
				t.Fatal(err)
			}
			close(received)
			response.Body.Close()
		})
	}
}

// TestRequestBodyIsNotHeldBack sends a piece and waits until the app has it.
func TestRequestBodyIsNotHeldBack(t *testing.T) {
	t.Parallel()
	received := make(chan string)
	app := startApp(t, func(w http.ResponseWriter, request *http.Request) {
		piece := make([]byte, len("first."))
		_, _ = io.ReadFull(request.Body, piece)
		received <- string(piece)
		rest, _ := io.ReadAll(request.Body)
		_, _ = w.Write(rest)
	})
	f := start(t, app, nil, nil)
	reader, writer := io.Pipe()
	go func() {
		_, _ = io.WriteString(writer, "first.")
		if got := <-received; got != "first." {
			t.Errorf("app got %q, want %q", got, "first.")
		}
		_, _ = io.WriteString(writer, "second")
		writer.Close()
	}()
	if _, body := send(t, http.MethodPost, f.url, nil, reader); body != "second" {
		t.Errorf("rest at the app is %q, want %q", body, "second")
	}
}

func TestTrailersPassBothWays(t *testing.T) {
	t.Parallel()
	app := startApp(t, func(w http.ResponseWriter, request *http.Request) {
		w.Header().Set("Trailer", "X-Sum")
		_, _ = io.Copy(io.Discard, request.Body)
		_, _ = io.WriteString(w, "body")
		w.Header().Set("X-Sum", "got "+request.Trailer.Get("X-Checksum"))
		w.Header().Set(http.TrailerPrefix+"X-Unannounced", "too")
	})
	f := start(t, app, nil, nil)
	request, err := http.NewRequest(http.MethodPost, f.url, io.NopCloser(strings.NewReader("body")))
	if err != nil {
		t.Fatal(err)
	}
	request.Trailer = http.Header{"X-Checksum": {"abc"}}
	response, err := client(t).Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	if _, err := io.ReadAll(response.Body); err != nil {
		t.Fatal(err)
	}
	want := http.Header{"X-Sum": {"got abc"}, "X-Unannounced": {"too"}}
	if diff := cmp.Diff(want, response.Trailer); diff != "" {
		t.Errorf("trailers (-want +got):\n%s", diff)
	}
}

func TestInterimAnswersPassWithoutHopByHopFields(t *testing.T) {
	t.Parallel()
	app := startRawApp(t, func(conn net.Conn, _ *bufio.Reader, _ string) {
		fmt.Fprint(conn, "HTTP/1.1 103 Early Hints\r\nLink: </a.css>\r\nConnection: X-Hop, keep-alive\r\nX-Hop: 1\r\nKeep-Alive: timeout=5\r\nUpgrade: h2c\r\n\r\n"+
			"HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 2\r\n\r\nok")
	})
	f := start(t, app, nil, nil)
	var interim []http.Header
	ctx := httptrace.WithClientTrace(t.Context(), &httptrace.ClientTrace{Got1xxResponse: func(code int, header textproto.MIMEHeader) error {
		if code == http.StatusEarlyHints {
			interim = append(interim, http.Header(header))
		}
		return nil
	}})
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, f.url, nil)
	if err != nil {
		t.Fatal(err)
	}
	response, err := client(t).Do(request)
	if err != nil {
		t.Fatal(err)
	}
	response.Body.Close()
	if diff := cmp.Diff([]http.Header{{"Link": {"</a.css>"}}}, interim); diff != "" {
		t.Errorf("interim answers (-want +got):\n%s", diff)
	}
	if link := response.Header.Get("Link"); link != "" {
		t.Errorf("final answer has Link %q, want none", link)
	}
}

// TestExpectContinue holds that the app decides whether a body is sent at all.
func TestExpectContinue(t *testing.T) {
	t.Parallel()
	app := startApp(t, func(w http.ResponseWriter, request *http.Request) {
		if request.URL.Path == "/refuse" {
			w.WriteHeader(http.StatusExpectationFailed)
			return
		}
		body, _ := io.ReadAll(request.Body)
		_, _ = w.Write(body)
	})
	f := start(t, app, nil, nil)
	conn, reader := f.dial(t)
	fmt.Fprint(conn, "POST /accept HTTP/1.1\r\nHost: a\r\nExpect: 100-continue\r\nContent-Length: 4\r\n\r\n")
	if head, err := readHead(reader); err != nil || !strings.HasPrefix(head, "HTTP/1.1 100 Continue") {
		t.Fatalf("before the body came %q, %v, want 100", head, err)
	}
	fmt.Fprint(conn, "body")
	head, err := readHead(reader)
	if strings.HasPrefix(head, "HTTP/1.1 100") {
		// Where the app is slow the body was asked for, and then the app did.
		head, err = readHead(reader)
	}
	if err != nil || !strings.HasPrefix(head, "HTTP/1.1 200") {
		t.Errorf("after the body came %q, %v, want 200", head, err)
	}

	conn, reader = f.dial(t)
	fmt.Fprint(conn, "POST /refuse HTTP/1.1\r\nHost: a\r\nExpect: 100-continue\r\nContent-Length: 4\r\n\r\n")
	if head, err := readHead(reader); err != nil || !strings.HasPrefix(head, "HTTP/1.1 417") {
		t.Errorf("the app's refusal came as %q, %v, want 417", head, err)
	}
}

// TestRefusedBodyIsNotRead holds that nothing of a refused request is asked for.
func TestRefusedBodyIsNotRead(t *testing.T) {
	t.Parallel()
	app := startApp(t, func(http.ResponseWriter, *http.Request) { t.Error("the app got a refused request") })
	f := start(t, app, rulesOf(t, onePolicy()), refusing(time.Second))
	conn, reader := f.dial(t)
	fmt.Fprint(conn, "POST / HTTP/1.1\r\nHost: a\r\nExpect: 100-continue\r\nContent-Length: 4\r\n\r\n")
	if head, err := readHead(reader); err != nil || !strings.HasPrefix(head, "HTTP/1.1 429") {
		t.Errorf("answer is %q, %v, want 429 without 100 before", head, err)
	}
}

// TestAnswerIsForwardedAsSent holds that no field is guessed, and that HEAD and
// HTTP/1.0 work.
func TestAnswerIsForwardedAsSent(t *testing.T) {
	t.Parallel()
	app := startRawApp(t, func(conn net.Conn, _ *bufio.Reader, head string) {
		body := "<html>not said to be so"
		if strings.HasPrefix(head, "HEAD") {
			body = ""
		}
		fmt.Fprint(conn, "HTTP/1.1 299 Odd\r\nDate: Thu, 01 Jan 1970 00:00:00 GMT\r\nServer: app\r\nX-A: 1\r\nX-A: 2\r\nConnection: X-Hop\r\nX-Hop: 1\r\nContent-Length: 23\r\n\r\n"+body)
	})
	f := start(t, app, nil, nil)
	for _, method := range []string{http.MethodGet, http.MethodHead} {
		response, body := send(t, method, f.url, nil, nil)
		want := http.Header{"Date": {"Thu, 01 Jan 1970 00:00:00 GMT"}, "Server": {"app"}, "X-A": {"1", "2"}, "Content-Length": {"23"}}
		if diff := cmp.Diff(want, response.Header); diff != "" {
			t.Errorf("%s: header (-want +got):\n%s", method, diff)
		}
		if response.StatusCode != 299 || method == http.MethodHead && body != "" || method == http.MethodGet && len(body) != 23 {
			t.Errorf("%s: answer is %d with %d bytes", method, response.StatusCode, len(body))
		}
	}
	if answer := f.exchange(t, "GET / HTTP/1.0\r\n\r\n"); !strings.HasPrefix(answer, "HTTP/1.0 299") && !strings.HasPrefix(answer, "HTTP/1.1 299") {
		t.Errorf("answer to HTTP/1.0 is %q", answer)
	}
}
