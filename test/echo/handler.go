// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"encoding/json"
	"net/http"
	"sync/atomic"
)

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
		write(w, answer{Pod: name, Count: count.Load()})
	})
	mux.HandleFunc("/", func(w http.ResponseWriter, _ *http.Request) {
		write(w, answer{Pod: name, Count: count.Add(1)})
	})
	return mux
}

func write(w http.ResponseWriter, a answer) {
	w.Header().Set("Content-Type", "application/json")
	// The only error is a client that left.
	_ = json.NewEncoder(w).Encode(a)
}
