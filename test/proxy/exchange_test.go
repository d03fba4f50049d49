// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package proxy

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"net/http"
	"strconv"
	"strings"
)

// exchange is a random request, legal however odd, and the answer that the app gives.
type exchange struct {
	method, target string
	// fields are those of the head; body and trailer follow it.
	fields  []field
	body    []byte
	chunked bool
	expect  bool
	trailer []field
	answer  reply
}

// reply is what the app writes.
type reply struct {
	status  int
	early   []field // of a 103 in front; none without
	fields  []field
	body    []byte
	framing framing
	trailer []field
	// announced says that a Trailer field names the trailers.
	announced bool
}

type field struct{ name, value string }

type framing int

const (
	byLength framing = iota
	byChunks
	byClose
)

// caseField numbers the exchanges.
const caseField = "X-Case"

// newExchange is always the same for the same seed and number.
func newExchange(seed, number uint64) exchange {
	r := rand.New(rand.NewPCG(seed, number))
	e := exchange{method: pick(r, methods), target: newTarget(r)}
	if e.method == http.MethodOptions && r.IntN(3) == 0 {
		e.target = "*"
	}
	e.fields = append([]field{{"Host", pick(r, hosts)}, {caseField, strconv.FormatUint(number, 10)}}, newFields(r, requestNames, r.IntN(12))...)
	if e.method != http.MethodTrace && r.IntN(2) == 0 {
		e.body, e.chunked, e.expect = newBody(r, 200<<10), r.IntN(2) == 0, r.IntN(10) == 0
		if e.chunked && r.IntN(2) == 0 {
			e.trailer = newFields(r, trailerNames, 1+r.IntN(3))
		}
	}
	e.answer = newReply(r, e.method)
	return e
}

func newReply(r *rand.Rand, method string) reply {
	a := reply{status: pick(r, statuses), fields: newFields(r, answerNames, r.IntN(12)), framing: framing(r.IntN(10) % 3)}
	if r.IntN(8) == 0 {
		a.early = []field{{"Link", "</style.css>; rel=preload"}, {"Link", "</a.js>; rel=preload"}}
	}
	if r.IntN(4) > 0 {
		a.fields = append(a.fields, field{"Date", "Sun, 06 Nov 1994 08:49:37 GMT"})
	}
	if r.IntN(4) > 0 {
		a.fields = append(a.fields, field{"content-type", pick(r, []string{"text/plain", "application/json; charset=utf-8", "x/y"})})
	}
	a.body = newBody(r, 1<<20)
	if !hasBody(method, a.status) {
		a.framing = byLength
		return a
	}
	if a.framing == byChunks && r.IntN(2) == 0 {
		a.trailer, a.announced = newFields(r, trailerNames, 1+r.IntN(3)), r.IntN(2) == 0
	}
	return a
}

// hasBody is RFC 9112 section 6.3.
func hasBody(method string, status int) bool {
	return method != http.MethodHead && status != http.StatusNoContent && status != http.StatusNotModified
}

var (
	methods  = []string{"GET", "GET", "GET", "HEAD", "POST", "POST", "PUT", "DELETE", "PATCH", "OPTIONS", "TRACE", "PROPFIND", "M-SEARCH", "get", "!#$%&'*+-.^_`|~"}
	hosts    = []string{"app.example", "app.example:8080", "APP.Example.", "[2001:db8::1]:80", "127.0.0.1"}
	statuses = []int{200, 200, 200, 201, 202, 203, 204, 206, 207, 299, 300, 301, 302, 304, 307, 400, 401, 403, 404, 409, 418, 422, 429, 451, 500, 502, 503, 504, 599}
	segments = []string{"a", "api", "login", "A", "%7Euser", "%2F", "%5c", "..", ".", "", "a;b=c", ";", "x:y", "@", "a+b", "%20", "%E2%82%AC", "(1)", "a,b", "!$&'*=", "~"}
	queries  = []string{"", "?", "?a=1", "?a=1&a=2", "?a=1;b=2", "?%zz", "?a=%2", "?x=/../y", "??", "?=&&=", "?a=%00", "?|"}
	// Names in all spellings, some of them several times in a message.
	requestNames = []string{"Accept", "accept", "Accept-Encoding", "User-Agent", "Cookie", "cookie", "X-Api-Key", "x-api-key", "X_Under_Score", "Authorization", "X-Empty", "X!#$%&'*+-.^_`|~", "Cache-Control", "If-None-Match", "Range", "Referer", "Origin", "Forwarded", "X-Forwarded-For", "X-Forwarded-Proto", "x-forwarded-host", "X-Real-IP", "Traceparent", "Tracestate", "Baggage", "Content-Type", "Content-Encoding", "Via", "Pragma", "DNT"}
	answerNames  = []string{"Set-Cookie", "set-cookie", "SET-COOKIE", "Vary", "vary", "ETag", "Cache-Control", "X-Empty", "Server", "Location", "WWW-Authenticate", "X-RateLimit-Limit", "RateLimit", "Retry-After", "Link", "Content-Language", "Content-Encoding", "X_Under_Score", "Access-Control-Allow-Origin", "X-Powered-By", "Via", "Age", "Alt-Svc", "Strict-Transport-Security", "Content-Security-Policy"}
	trailerNames = []string{"X-Checksum", "x-checksum", "Grpc-Status", "grpc-message", "X-Trailing"}
	values       = []string{"", "1", "a", "a, b", "a,b", "\"quoted, text\"", "a=b; Path=/; HttpOnly", "caf\xc3\xa9", "\xff\xfe", "tab\tin", "two  spaces", "for=192.0.2.60;proto=http", "192.0.2.1, 192.0.2.2", "W/\"x\"", strings.Repeat("long ", 90) + "end"}
)

func pick[T any](r *rand.Rand, from []T) T { return from[r.IntN(len(from))] }

func newTarget(r *rand.Rand) string {
	var b strings.Builder
	for range 1 + r.IntN(5) {
		b.WriteString("/" + pick(r, segments))
	}
	b.WriteString(pick(r, queries))
	return b.String()
}

func newFields(r *rand.Rand, names []string, count int) []field {
	fields := make([]field, count)
	for i := range fields {
		fields[i] = field{pick(r, names), pick(r, values)}
	}
	return fields
}

// newBody is mostly short, and now and then as long as most.
func newBody(r *rand.Rand, most int) []byte {
	length := r.IntN(300)
	switch r.IntN(100) {
	case 0:
		length = r.IntN(most)
	case 1, 2, 3:
		length = 4096 * r.IntN(4)
	case 4, 5, 6, 7, 8, 9:
		length = 0
	}
	body := make([]byte, length)
	for i := range body {
		body[i] = byte(r.Uint32())
	}
	return body
}

// head is the request up to its body.
func (e *exchange) head() []byte {
	var b bytes.Buffer
	fmt.Fprintf(&b, "%s %s HTTP/1.1\r\n", e.method, e.target)
	writeFields(&b, e.fields)
	switch {
	case e.chunked:
		b.WriteString("Transfer-Encoding: chunked\r\n")
		writeAnnouncement(&b, e.trailer)
	case e.body != nil:
		fmt.Fprintf(&b, "Content-Length: %d\r\n", len(e.body))
	}
	if e.expect {
		b.WriteString("Expect: 100-continue\r\n")
	}
	b.WriteString("\r\n")
	return b.Bytes()
}

// rest is the request's body with its trailers.
func (e *exchange) rest() []byte {
	if !e.chunked {
		return e.body
	}
	return inChunks(e.body, e.trailer)
}

// text is the answer as the app writes it.
func (a *reply) text(method string) []byte {
	var b bytes.Buffer
	if a.early != nil {
		b.WriteString("HTTP/1.1 103 Early Hints\r\n")
		writeFields(&b, a.early)
		b.WriteString("\r\n")
	}
	fmt.Fprintf(&b, "HTTP/1.1 %d Whatever\r\n", a.status)
	writeFields(&b, a.fields)
	if !hasBody(method, a.status) {
		if method == http.MethodHead && a.status != http.StatusNoContent {
			fmt.Fprintf(&b, "Content-Length: %d\r\n", len(a.body))
		}
		b.WriteString("\r\n")
		return b.Bytes()
	}
	switch a.framing {
	case byChunks:
		b.WriteString("Transfer-Encoding: chunked\r\n")
		if a.announced {
			writeAnnouncement(&b, a.trailer)
		}
		b.WriteString("\r\n")
		b.Write(inChunks(a.body, a.trailer))
	case byClose:
		b.WriteString("Connection: close\r\n\r\n")
		b.Write(a.body)
	default:
		fmt.Fprintf(&b, "Content-Length: %d\r\n\r\n", len(a.body))
		b.Write(a.body)
	}
	return b.Bytes()
}

func writeFields(b *bytes.Buffer, fields []field) {
	for _, f := range fields {
		b.WriteString(f.name + ": " + f.value + "\r\n")
	}
}

func writeAnnouncement(b *bytes.Buffer, trailer []field) {
	for _, f := range trailer {
		b.WriteString("Trailer: " + f.name + "\r\n")
	}
}

// inChunks frames a body in chunks of uneven lengths.
func inChunks(body []byte, trailer []field) []byte {
	var b bytes.Buffer
	for length := 1; len(body) > 0; length = length*3 + 1 {
		length = min(length, len(body))
		fmt.Fprintf(&b, "%x\r\n%s\r\n", length, body[:length])
		body = body[length:]
	}
	b.WriteString("0\r\n")
	writeFields(&b, trailer)
	b.WriteString("\r\n")
	return b.Bytes()
}
