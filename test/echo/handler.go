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

func newHandler(name string) http.Handler {
	var count atomic.Int64
	mux := http.NewServeMux()
	mux.HandleFunc("GET /healthz", func(http.ResponseWriter, *http.Request) {})
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
