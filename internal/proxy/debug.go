// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package proxy

import (
	"bytes"
	"encoding/json"
	"io"
	"net"
	"net/http"
	"net/http/pprof"
	"net/netip"
	"strings"
)

const debugIndex = `/debug/rules    the rules in force, and what became of requests under each
/debug/store    where requests are counted, and how that goes
/debug/refused  who is refused most
/debug/pprof/   where CPU and memory go, for go tool pprof
Add ?format=json for JSON.
`

// addDebug adds what answers questions about single rules and clients.
func (s *Server) addDebug(mux *http.ServeMux) {
	add := func(path string, handler http.HandlerFunc) { mux.HandleFunc("GET "+path, onLoopback(handler)) }
	add("/debug/{$}", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/plain; charset=utf-8")
		// Whoever has left needs no answer.
		_, _ = io.WriteString(w, debugIndex)
	})
	add("/debug/rules", func(w http.ResponseWriter, r *http.Request) { s.writeView(w, r, s.rulesView) })
	add("/debug/store", func(w http.ResponseWriter, r *http.Request) { s.writeView(w, r, s.storeView) })
	add("/debug/refused", func(w http.ResponseWriter, r *http.Request) { s.writeView(w, r, s.refusedView) })
	add("/debug/pprof/", pprof.Index)
	add("/debug/pprof/profile", pprof.Profile)
}

// onLoopback hides a handler from all but this pod: names of policies and who is
// refused are nobody else's. Both ends of the connection have to be on loopback, and
// the request has to be meant for it, or any web page could ask through a browser.
func onLoopback(next http.HandlerFunc) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		local, _ := r.Context().Value(http.LocalAddrContextKey).(net.Addr)
		if local == nil || !isLoopback(local.String()) || !isLoopback(r.RemoteAddr) || !isLoopback(r.Host) {
			http.NotFound(w, r)
			return
		}
		next(w, r)
	}
}

// isLoopback reports whether an address, with a port or without, is this machine only.
func isLoopback(address string) bool {
	host := address
	if name, _, err := net.SplitHostPort(address); err == nil {
		host = name
	}
	if strings.EqualFold(host, "localhost") {
		return true
	}
	ip, err := netip.ParseAddr(strings.Trim(host, "[]"))
	return err == nil && ip.Unmap().IsLoopback()
}

// debugView is an answer as JSON, and for people.
type debugView interface{ writeText(to io.Writer) }

func (s *Server) writeView(w http.ResponseWriter, r *http.Request, view func() (debugView, error)) {
	made, err := view()
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	w.Header().Set("Cache-Control", "no-store")
	w.Header().Set("Vary", "Accept")
	var body bytes.Buffer
	if wantsJSON(r) {
		w.Header().Set("Content-Type", "application/json")
		encoder := json.NewEncoder(&body)
		encoder.SetIndent("", "  ")
		// Texts, numbers and times can be encoded.
		_ = encoder.Encode(made)
	} else {
		w.Header().Set("Content-Type", "text/plain; charset=utf-8")
		made.writeText(&body)
	}
	// Whoever has left needs no answer.
	_, _ = w.Write(body.Bytes())
}

func wantsJSON(r *http.Request) bool {
	if format := r.URL.Query().Get("format"); format != "" {
		return format == "json"
	}
	return strings.Contains(r.Header.Get("Accept"), "application/json")
}
