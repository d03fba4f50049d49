// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package proxy

import (
	"net/http"
	"net/textproto"
	"strings"

	"golang.org/x/net/http/httpguts"

	"github.com/penstock-dev/penstock/internal/match"
)

// unservable returns the answer to a request that is for no app, and false.
func unservable(request *http.Request) (answer, bool) {
	var refused problem
	switch _, known := match.OriginForm(request.RequestURI); {
	case request.Method == "PRI":
		// The preface of HTTP/2 where HTTP/1 is spoken, which net/http leaves to
		// handlers; its frames would go to the app as a body.
		refused = problem{
			Title: "HTTP version not supported", Status: http.StatusHTTPVersionNotSupported,
			Detail: "The preface of HTTP/2 must be the first that is sent on a connection.",
		}
	case request.Method == http.MethodConnect:
		// A tunnel would carry any number of requests past the limits.
		refused = problem{
			Title: "Tunnels are not forwarded", Status: http.StatusMethodNotAllowed,
			Detail: "CONNECT is for forward proxies; this is the way to an application.",
		}
	case !known:
		// Such as "http:/login", which net/http reads and others do not.
		refused = problem{
			Title: "Malformed request target", Status: http.StatusBadRequest,
			Detail: "The request target is neither a path nor an http or https URL.",
		}
	case request.ProtoMajor == 2:
		fault := malformedHTTP2(request)
		if fault == "" {
			return answer{}, true
		}
		refused = problem{Title: "Malformed request", Status: http.StatusBadRequest, Detail: fault}
	default:
		return answer{}, true
	}
	return problemAnswer(refused), false
}

// malformedHTTP2 says what is wrong with a request of HTTP/2 that net/http takes and
// that others read in another way; "" if nothing is. Of HTTP/1 net/http lets none of
// this pass.
func malformedHTTP2(request *http.Request) string {
	hosts, lengths := request.Header["Host"], request.Header["Content-Length"]
	switch {
	case !isToken(request.Method):
		return "The method has a character that no method may have."
	case request.RequestURI != "*" && request.RequestURI[0] != '/' || strings.ContainsAny(request.RequestURI, " \t"):
		return "The field :path is not a path."
	case len(hosts) > 1 || len(hosts) == 1 && hosts[0] != request.Host:
		return "The fields :authority and Host differ, and an application could believe either."
	case !httpguts.ValidHostHeader(request.Host):
		return "The host has a character that no host may have."
	case len(lengths) > 1 || len(lengths) == 1 && !isDigits(lengths[0]):
		return "The field Content-Length is not one number."
	}
	// As in HTTP/1 the host is told by the request alone.
	delete(request.Header, "Host")
	trimValues(request.Header)
	return ""
}

// trimValues takes blanks from the ends of values, where they are no part of them (RFC
// 9110, section 5.5). Of HTTP/1 every reader does so, of HTTP/2 only some: a client could
// have as many identities as it has blanks.
func trimValues(header http.Header) {
	for _, values := range header {
		for i := range values {
			values[i] = textproto.TrimString(values[i])
		}
	}
}

// isToken reports whether text is a token (RFC 9110, section 5.6.2).
func isToken(text string) bool {
	for i := range len(text) {
		c := text[i]
		isLetter := 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9'
		if !isLetter && !strings.ContainsRune("!#$%&'*+-.^_`|~", rune(c)) {
			return false
		}
	}
	return text != ""
}

func isDigits(text string) bool {
	for i := range len(text) {
		if text[i] < '0' || text[i] > '9' {
			return false
		}
	}
	return text != ""
}
