// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"encoding/json"
	"io"
	"net/http"
	"sync/atomic"
)

// longestDocument bounds what the app keeps for others to read.
const longestDocument = 1 << 20

// answer is the body of every answer.
type answer struct {
	Pod   string `json:"pod"`
	Count int64  `json:"count"` // requests counted so far, this one included
}

func newHandler(name string, health *appHealth) http.Handler {
	var count atomic.Int64
	mux := http.NewServeMux()
	mux.HandleFunc("GET /healthz", health.serveHTTP)
	mux.HandleFunc("GET /fail", func(http.ResponseWriter, *http.Request) { health.fail() })
	mux.HandleFunc("GET /socket", serveSocket)
	mux.HandleFunc("GET /count", func(w http.ResponseWriter, _ *http.Request) {
		write(w, http.StatusOK, answer{Pod: name, Count: count.Load()})
	})
	var document atomic.Pointer[[]byte]
	mux.HandleFunc("PUT /document", func(w http.ResponseWriter, request *http.Request) {
		text, err := io.ReadAll(http.MaxBytesReader(w, request.Body, longestDocument))
		if err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		document.Store(&text)
	})
	mux.HandleFunc("GET /document", func(w http.ResponseWriter, _ *http.Request) {
		if text := document.Load(); text != nil {
			// The only error is a client that left.
			_, _ = w.Write(*text)
			return
		}
		http.Error(w, "nobody has put a document here", http.StatusNotFound)
	})
	mux.HandleFunc("/", func(w http.ResponseWriter, request *http.Request) {
		asked, err := outcomeOf(request.URL.Query())
		if err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		counted := count.Add(1)
		asked.await(request)
		if asked.cost != "" {
			w.Header().Set("X-Cost", asked.cost)
		}
		write(w, asked.status, answer{Pod: name, Count: counted})
	})
	return mux
}

func write(w http.ResponseWriter, status int, a answer) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	// The only error is a client that left.
	_ = json.NewEncoder(w).Encode(a)
}
