// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package proxy

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/penstock-dev/penstock/internal/limiter"
	"github.com/penstock-dev/penstock/internal/ruleset"
)

// http2Client speaks HTTP/2 with prior knowledge.
func http2Client(t testing.TB) *http.Client {
	var protocols http.Protocols
	protocols.SetUnencryptedHTTP2(true)
	transport := &http.Transport{DisableCompression: true, Protocols: &protocols}
	t.Cleanup(transport.CloseIdleConnections)
	return &http.Client{Transport: transport, Timeout: patience}
}

// TestHTTP2IsForwardedAsHTTP2 holds what the app sees of a request, and its client of
// the answer.
func TestHTTP2IsForwardedAsHTTP2(t *testing.T) {
	t.Parallel()
	app := startH2CApp(t, func(w http.ResponseWriter, request *http.Request) {
		body, _ := io.ReadAll(request.Body)
		header := request.Header.Clone()
		header.Del("Accept-Encoding")
		w.Header().Set("Trailer", "X-Sum")
		w.Header().Set("Date", "then")
		fmt.Fprintf(w, "%s %s %s %s %v %s", request.Proto, request.Method, request.Host, request.RequestURI, header, body)
		w.Header().Set("X-Sum", "got "+request.Trailer.Get("X-Checksum"))
		w.Header().Set(http.TrailerPrefix+"X-Unannounced", "too")
	})
	f := start(t, app, rulesOf(t, onePolicy()), admitting)
	request, err := http.NewRequest(http.MethodPost, f.url+"/a/../b//c?d;e", io.NopCloser(strings.NewReader("body")))
	if err != nil {
		t.Fatal(err)
	}
	request.Host = "Shop.example.com"
	request.Header = http.Header{"Te": {"trailers"}, "User-Agent": {"it"}, "X-Forwarded-For": {"203.0.113.7"}}
	request.Trailer = http.Header{"X-Checksum": {"abc"}}
	response, err := http2Client(t).Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	want := "HTTP/2.0 POST Shop.example.com /a/../b//c?d;e map[Te:[trailers] User-Agent:[it] X-Forwarded-For:[203.0.113.7, 127.0.0.1]] body"
	if string(body) != want {
		t.Errorf("the app saw %q, want %q", body, want)
	}
	if diff := cmp.Diff(http.Header{"X-Sum": {"got abc"}, "X-Unannounced": {"too"}}, response.Trailer); diff != "" {
		t.Errorf("trailers (-want +got):\n%s", diff)
	}
	if got := response.Header.Get("X-Ratelimit-Remaining"); got != "9" || response.ProtoMajor != 2 {
		t.Errorf("the answer of %s has X-RateLimit-Remaining %q, want 9 of HTTP/2", response.Proto, got)
	}
}

// TestTrailerWithoutBody holds that such a request ends, too.
func TestTrailerWithoutBody(t *testing.T) {
	t.Parallel()
	app := startH2CApp(t, func(w http.ResponseWriter, request *http.Request) {
		_, _ = io.Copy(w, request.Body)
	})
	c := start(t, app, nil, nil).dialFrames(t)
	params := http2HeadersOf(1, c.encode(get("content-length", "0", "trailer", "x-sum")...))
	params.EndStream = false
	c.must(c.WriteHeaders(params))
	c.request(1, "x-sum", "1")
	if header, _ := c.answer(1); header == nil || header.PseudoValue("status") != "200" {
		t.Errorf("the answer is %v, want 200", header)
	}
}

// TestRefusedCallIsAllHeader holds that a refusal of gRPC is one frame.
func TestRefusedCallIsAllHeader(t *testing.T) {
	t.Parallel()
	app := startH2CApp(t, func(http.ResponseWriter, *http.Request) { t.Error("the app got a refused call") })
	f := start(t, app, rulesOf(t, onePolicy()), refusing(1500*time.Millisecond))
	c := f.dialFrames(t)
	c.request(1, ":method", "POST", ":scheme", "http", ":authority", "a", ":path", "/s/M", "content-type", "application/grpc", "te", "trailers")
	header, _ := c.answer(1)
	if header == nil || !header.StreamEnded() {
		t.Fatalf("the answer is %v, want a header that ends the stream", header)
	}
	got := map[string]string{}
	for _, field := range header.Fields {
		got[field.Name] = field.Value
	}
	for name, want := range map[string]string{":status": "200", "grpc-status": "8", "grpc-retry-pushback-ms": "1500", "content-type": "application/grpc"} {
		if got[name] != want {
			t.Errorf("%s is %q, want %q", name, got[name], want)
		}
	}
	if length, sent := got["content-length"]; sent {
		t.Errorf("content-length is %q, want none", length)
	}
}

// TestAllHeaderAnswerStaysSo has an app that answers a call with its trailers alone.
func TestAllHeaderAnswerStaysSo(t *testing.T) {
	t.Parallel()
	app := startH2CApp(t, func(w http.ResponseWriter, _ *http.Request) {
		w.Header()["Content-Length"] = nil
		w.Header().Set("Grpc-Status", "5")
		w.WriteHeader(http.StatusOK)
	})
	f := start(t, app, nil, nil)
	c := f.dialFrames(t)
	c.request(1, get()...)
	header, _ := c.answer(1)
	if header == nil || !header.StreamEnded() {
		t.Fatalf("the answer is %v, want a header that ends the stream", header)
	}
	for _, field := range header.Fields {
		if field.Name == "content-length" {
			t.Errorf("content-length is %q, want none", field.Value)
		}
	}
}

// TestMalformedHTTP2IsRefused has requests that applications read in different ways.
func TestMalformedHTTP2IsRefused(t *testing.T) {
	t.Parallel()
	app := startH2CApp(t, func(_ http.ResponseWriter, request *http.Request) {
		t.Errorf("the app got %s %s of %s", request.Method, request.RequestURI, request.Host)
	})
	f := start(t, app, nil, nil)
	changed := func(name, value string) []string {
		fields := get()
		for i := 0; i < len(fields); i += 2 {
			if fields[i] == name {
				fields[i+1] = value
			}
		}
		return fields
	}
	tests := map[string][]string{
		"Host is another than :authority": get("host", "b"),
		"Host twice":                      get("host", "a", "host", "a"),
		"no method":                       changed(":method", "G ET"),
		"preface as method":               changed(":method", "PRI"),
		"method with a line":              changed(":method", "GET / HTTP/1.1\r\nHost: b"),
		"path with a space":               changed(":path", "/ HTTP/1.1"),
		"path is a URL":                   changed(":path", "http://b/"),
		"path without a slash":            changed(":path", "login"),
		"empty path":                      changed(":path", ""),
		"userinfo":                        changed(":authority", "a@b"),
		"host with a space":               changed(":authority", "a b"),
		"host with a slash":               changed(":authority", "a/b"),
		"host with a line":                changed(":authority", "a\r\nb"),
		"host that folds to ASCII":        changed(":authority", "\u212aiosk"),
		"host in Host with a space":       {":method", "GET", ":scheme", "http", ":path", "/", "host", "a b"},
		"another scheme":                  changed(":scheme", "ftp"),
		"lengths that differ":             get("content-length", "1", "content-length", "2"),
		"length with a sign":              get("content-length", "+1"),
		"length that is a list":           get("content-length", "1, 1"),
		"Connection":                      get("connection", "x"),
		"Transfer-Encoding":               get("transfer-encoding", "chunked"),
		"Upgrade":                         get("upgrade", "websocket"),
		"TE that is more than trailers":   get("te", "gzip"),
		"upper case":                      get("X-Upper", "1"),
		"extended CONNECT":                append(changed(":method", "CONNECT"), ":protocol", "websocket"),
		"CONNECT":                         {":method", "CONNECT", ":authority", "a:80"},
		"pseudo-field after a field":      {":method", "GET", "x", "1", ":scheme", "http", ":authority", "a", ":path", "/"},
		"two paths":                       get(":path", "/b"),
		"value with a line":               get("x", "1\r\ny: 2"),
		"name with a colon":               get("x:y", "1"),
	}
	for name, fields := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := f.dialFrames(t)
			c.request(1, fields...)
			header, reset := c.answer(1)
			if header != nil && !strings.HasPrefix(header.PseudoValue("status"), "4") && header.PseudoValue("status") != "505" {
				t.Errorf("the answer is %v, want a refusal", header.Fields)
			}
			if header == nil && reset == nil {
				t.Log("the connection was closed")
			}
		})
	}
}

// TestBlanksAroundAValueAreNoPartOfIt has values that readers of HTTP/1 trim, and many of
// HTTP/2: a client could else have as many identities as it has blanks.
func TestBlanksAroundAValueAreNoPartOfIt(t *testing.T) {
	t.Parallel()
	policy := onePolicy()
	policy.Rules[0].Key = []ruleset.KeyPart{{Name: "key", From: []ruleset.KeySource{{Kind: ruleset.SourceHeader, Name: "x-key"}}}}
	identities := make(chan string, 1)
	f := start(t, startH2CApp(t, func(w http.ResponseWriter, request *http.Request) {
		w.Header()["X-Got"] = request.Header["X-Key"]
	}), rulesOf(t, policy), func(ctx context.Context, namespace string, checks []limiter.Check) (limiter.Decision, error) {
		identities <- checks[0].Identity
		return admitting(ctx, namespace, checks)
	})
	c := f.dialFrames(t)
	want := ""
	for i, value := range []string{"ada", " ada", "ada ", "\tada \t"} {
		stream := uint32(2*i + 1)
		c.request(stream, get("x-key", value)...)
		header, _ := c.answer(stream)
		if header == nil || header.PseudoValue("status") != "200" {
			t.Fatalf("%q: the answer is %v", value, header)
		}
		for _, field := range header.Fields {
			if field.Name == "x-got" && field.Value != "ada" {
				t.Errorf("%q: the app got %q", value, field.Value)
			}
		}
		if identity := <-identities; want == "" {
			want = identity
		} else if identity != want {
			t.Errorf("%q is another identity than \"ada\"", value)
		}
	}
}

// TestStreamsOfSlowClientsHoldUpNobody has many answers that nobody reads, and another
// request on the same connection.
func TestStreamsOfSlowClientsHoldUpNobody(t *testing.T) {
	t.Parallel()
	app := startH2CApp(t, func(w http.ResponseWriter, request *http.Request) {
		if request.URL.Path == "/quick" {
			okApp(w, request)
			return
		}
		_, _ = io.Copy(w, io.LimitReader(zeros{}, 2<<20))
	})
	f := start(t, app, nil, nil)
	var slow *http.Client
	for range 3 {
		slow = http2Client(t)
		// The client itself is to take little.
		slow.Transport.(*http.Transport).HTTP2 = &http.HTTP2Config{MaxReceiveBufferPerStream: 64 << 10}
		for range 30 {
			response, err := slow.Get(f.url + "/large")
			if err != nil {
				t.Fatal(err)
			}
			defer response.Body.Close()
		}
	}
	response, err := slow.Get(f.url + "/quick")
	if err != nil {
		t.Fatal(err)
	}
	response.Body.Close()
}

type zeros struct{}

func (zeros) Read(p []byte) (int, error) { return len(p), nil }

// TestRapidResets opens and resets streams as fast as it can: what runs at a time is
// bounded, and the app sees nothing that was not charged.
func TestRapidResets(t *testing.T) {
	t.Parallel()
	const resets, bound = 10_000, 20
	var running, most, charged, served atomic.Int64
	decide := func(ctx context.Context, namespace string, checks []limiter.Check) (limiter.Decision, error) {
		now := running.Add(1)
		defer running.Add(-1)
		for before := most.Load(); now > before && !most.CompareAndSwap(before, now); before = most.Load() {
		}
		charged.Add(1)
		return admitting(ctx, namespace, checks)
	}
	app := startH2CApp(t, func(w http.ResponseWriter, request *http.Request) {
		served.Add(1)
		okApp(w, request)
	})
	f := startBare(t, app, decide, Options{Bounds: Bounds{MaxConcurrentStreams: bound}})
	f.server.SetRules(rulesOf(t, onePolicy()))
	for sent := 0; sent < resets; {
		c := f.dialFrames(t)
		for stream := uint32(1); sent < resets; stream += 2 {
			block := c.encode(get()...)
			if err := c.WriteHeaders(http2HeadersOf(stream, block)); err != nil {
				break
			}
			if err := c.WriteRSTStream(stream, 8); err != nil {
				break
			}
			sent++
		}
		c.conn.Close()
	}
	for waited := time.Now(); running.Load() > 0; {
		if time.Since(waited) > patience {
			t.Fatal("requests still run")
		}
	}
	if most.Load() > bound*4 || served.Load() > charged.Load() {
		t.Errorf("%d requests ran at a time, want about %d at most; the app saw %d of %d that were charged", most.Load(), bound, served.Load(), charged.Load())
	}
	if response, _ := send(t, http.MethodGet, f.url, nil, nil); response.StatusCode != http.StatusOK {
		t.Errorf("afterwards the answer is %d, want 200", response.StatusCode)
	}
}

// TestEndlessHeaderIsCutOff sends CONTINUATION without end.
func TestEndlessHeaderIsCutOff(t *testing.T) {
	t.Parallel()
	f := start(t, startH2CApp(t, okApp), nil, nil)
	c := f.dialFrames(t)
	block := c.encode(get()...)
	params := http2HeadersOf(1, block)
	params.EndHeaders = false
	c.must(c.WriteHeaders(params))
	const most = 100 << 20
	for sent := 0; ; sent += 16 << 10 {
		if sent > most {
			t.Fatalf("the server still reads a header of %d bytes", sent)
		}
		piece := c.encode("x-"+strings.Repeat("a", 100), strings.Repeat("b", 16_000))
		if err := c.WriteContinuation(1, false, piece[:min(len(piece), 16<<10)]); err != nil {
			return
		}
	}
}
