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
	"net/http/httptrace"
	"net/textproto"
	"strings"
	"testing"
	"time"

	"github.com/penstock-dev/penstock/test/proxyrun"
)

// goClient speaks one version of HTTP.
func goClient(t *testing.T, isHTTP2 bool) *http.Client {
	t.Helper()
	var protocols http.Protocols
	protocols.SetHTTP1(!isHTTP2)
	protocols.SetUnencryptedHTTP2(isHTTP2)
	transport := &http.Transport{Protocols: &protocols, DisableCompression: true}
	t.Cleanup(transport.CloseIdleConnections)
	return &http.Client{Transport: transport, Timeout: proxyrun.Patience}
}

func testGo(t *testing.T, sidecar *proxyrun.Proxy) {
	for version, isHTTP2 := range map[string]bool{"HTTP 1.1": false, "HTTP 2": true} {
		for name, test := range map[string]func(t *testing.T, client *http.Client, url string){
			"trailers both ways":     testTrailers,
			"hints":                  testHints,
			"events one by one":      testEvents,
			"answer before the body": testEarlyAnswer,
			"answer that breaks off": testBrokenAnswer,
			"client that leaves":     testLeavingClient,
		} {
			t.Run(version+" "+name, func(t *testing.T) {
				t.Parallel()
				test(t, goClient(t, isHTTP2), sidecar.URL())
			})
		}
	}
}

func testTrailers(t *testing.T, client *http.Client, url string) {
	request, err := http.NewRequestWithContext(t.Context(), http.MethodPost, url+"/trailers", io.NopCloser(strings.NewReader("body")))
	if err != nil {
		t.Fatal(err)
	}
	request.Trailer = http.Header{"X-Sent": {"1"}}
	answer, err := client.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = answer.Body.Close() }()
	body, err := io.ReadAll(answer.Body)
	if err != nil || string(body) != "body" || answer.Trailer.Get("X-Sum") != "got 1" {
		t.Errorf("the answer is %q, %v with trailer %v", body, err, answer.Trailer)
	}
}

func testHints(t *testing.T, client *http.Client, url string) {
	var links []string
	ctx := httptrace.WithClientTrace(t.Context(), &httptrace.ClientTrace{Got1xxResponse: func(_ int, header textproto.MIMEHeader) error {
		links = append(links, header.Get("Link"))
		return nil
	}})
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, url+"/hints", nil)
	if err != nil {
		t.Fatal(err)
	}
	answer, err := client.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	_ = answer.Body.Close()
	if len(links) != 1 || links[0] != "</style.css>; rel=preload" {
		t.Errorf("the hints are %q, want one", links)
	}
}

// testEvents lets the app go on only once the client has what was sent so far.
func testEvents(t *testing.T, client *http.Client, url string) {
	body, ask := io.Pipe()
	defer func() { _ = ask.Close() }()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodPost, url+"/events", body)
	if err != nil {
		t.Fatal(err)
	}
	answer, err := client.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = answer.Body.Close() }()
	reader := bufio.NewReader(answer.Body)
	for i := range 3 {
		want := fmt.Sprintf("data: %d\n", i)
		if got, err := reader.ReadString('\n'); err != nil || got != want {
			t.Fatalf("the event is %q, %v, want %q", got, err, want)
		}
		if _, err := reader.ReadString('\n'); err != nil {
			t.Fatal(err)
		}
		if _, err := io.WriteString(ask, "x"); err != nil {
			t.Fatal(err)
		}
	}
}

func testEarlyAnswer(t *testing.T, client *http.Client, url string) {
	body, writer := io.Pipe()
	defer func() { _ = writer.Close() }()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodPost, url+"/early", body)
	if err != nil {
		t.Fatal(err)
	}
	answer, err := client.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	_ = answer.Body.Close()
	if answer.StatusCode != http.StatusRequestEntityTooLarge {
		t.Errorf("the status is %d, want the app's 413", answer.StatusCode)
	}
}

func testBrokenAnswer(t *testing.T, client *http.Client, url string) {
	answer, err := client.Get(url + "/abort")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = answer.Body.Close() }()
	if text, err := io.ReadAll(answer.Body); err == nil {
		t.Errorf("the answer is %q and seems whole, want an error", text)
	}
}

func testLeavingClient(t *testing.T, client *http.Client, url string) {
	answer, err := client.Get(url + "/large?size=1000000000000")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := io.CopyN(io.Discard, answer.Body, 1<<20); err != nil {
		t.Error(err)
	}
	// That the app stops is seen in what the sidecar has open at the end.
	_ = answer.Body.Close()
}

func testByHand(t *testing.T, sidecar *proxyrun.Proxy) {
	tests := map[string]struct{ sent, want string }{
		"HTTP 1.0 is closed":             {"GET /echo/ HTTP/1.0\r\n\r\n", echoed("HTTP/1.1", "GET", "/echo/", "")},
		"HTTP 1.0 with a body":           {"POST /echo/ HTTP/1.0\r\nContent-Length: 4\r\n\r\nbody", echoed("HTTP/1.1", "POST", "/echo/", "body")},
		"HTTP 1.0 HEAD":                  {"HEAD /echo/ HTTP/1.0\r\n\r\n", ""},
		"HTTP 1.0 of unknown length":     {"GET /large?size=10000 HTTP/1.0\r\n\r\n", "penstockpenstock"},
		"HTTP 1.0 keep-alive, then none": {"GET /echo/1 HTTP/1.0\r\nConnection: keep-alive\r\n\r\nGET /echo/2 HTTP/1.0\r\n\r\n", echoed("HTTP/1.1", "GET", "/echo/2", "")},
		"absolute form":                  {"GET http://a/echo/x HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n", echoed("HTTP/1.1", "GET", "/echo/x", "")},
		"chunks":                         {"POST /echo/ HTTP/1.1\r\nHost: a\r\nConnection: close\r\nTransfer-Encoding: chunked\r\n\r\n4\r\nbody\r\n0\r\n\r\n", echoed("HTTP/1.1", "POST", "/echo/", "body")},
		"pipelining":                     {"GET /echo/1 HTTP/1.1\r\nHost: a\r\n\r\nGET /echo/2 HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n", echoed("HTTP/1.1", "GET", "/echo/2", "")},
		"upgrade to h2c":                 {"GET /echo/ HTTP/1.1\r\nHost: a\r\nUpgrade: h2c\r\nConnection: Upgrade, close\r\n\r\n", echoed("HTTP/1.1", "GET", "/echo/", "")},
		"nothing that is known":          {"\x00\x01\x02\r\n\r\n", "400 Bad Request"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			conn, err := net.Dial("tcp", sidecar.Address)
			if err != nil {
				t.Fatal(err)
			}
			defer func() { _ = conn.Close() }()
			if err := conn.SetDeadline(time.Now().Add(proxyrun.Patience)); err != nil {
				t.Fatal(err)
			}
			if _, err := io.WriteString(conn, tc.sent); err != nil {
				t.Fatal(err)
			}
			answer, err := io.ReadAll(conn)
			if err != nil || !strings.HasPrefix(string(answer), "HTTP/1.") || !strings.Contains(string(answer), tc.want) {
				t.Errorf("the answer is %.300q, %v, want %q in it", answer, err, tc.want)
			}
		})
	}
}

func startTLSApp(t *testing.T) string {
	t.Helper()
	app := httptest.NewUnstartedServer(protocolApp())
	app.EnableHTTP2 = true
	app.StartTLS()
	t.Cleanup(app.Close)
	return app.Listener.Addr().String()
}

func testTLS(t *testing.T, sidecar *proxyrun.Proxy) {
	t.Run("by HTTP 1.1", func(t *testing.T) {
		body := strings.Repeat("x", 1<<20)
		got := output(t, body, "curl", "-sSk", "--noproxy", "*", "--http1.1", "--data-binary", "@-", "https://"+sidecar.Address+"/echo/t")
		if want := echoed("HTTP/1.1", "POST", "/echo/t", body); got != want {
			t.Errorf("curl printed %q, want %q", got, want)
		}
	})
	t.Run("by HTTP 2", func(t *testing.T) {
		got := output(t, "", "curl", "-sSk", "--noproxy", "*", "--http2", "https://"+sidecar.Address+"/echo/t")
		if want := echoed("HTTP/2.0", "GET", "/echo/t", ""); got != want {
			t.Errorf("curl printed %q, want %q", got, want)
		}
	})
	t.Run("is counted", func(t *testing.T) {
		if got := sidecar.Metric("penstock_not_http_connections_total"); got < 2 {
			t.Errorf("%v connections of TLS were counted, want 2", got)
		}
		if got := sidecar.Metric("penstock_decisions_total"); got != 0 {
			t.Errorf("%v requests were counted, want none", got)
		}
	})
}
