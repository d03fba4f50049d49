// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"time"
)

const (
	// mostRequests and mostAtOnce bound one batch.
	mostRequests = 10_000
	mostAtOnce   = 100
	longestBatch = 1 << 22
)

// batch is what a test asks to be sent: one after the other, or AtOnce of them at a
// time, which starts them in order.
type batch struct {
	Requests []request `json:"requests"`
	AtOnce   int       `json:"atOnce"`
}

type request struct {
	Method string      `json:"method"`
	URL    string      `json:"url"`
	Host   string      `json:"host"` // empty is the URL's
	Header http.Header `json:"header"`
	Body   string      `json:"body"`
}

// reply is the answer to one request, or why there was none.
type reply struct {
	Status  int         `json:"status"`
	Header  http.Header `json:"header"`
	Body    string      `json:"body"`
	Seconds float64     `json:"seconds"`
	Error   string      `json:"error,omitempty"`
}

// serveExchanges takes batches by POST and answers each with its replies, until ctx ends.
func serveExchanges(ctx context.Context, address string, timeout time.Duration) error {
	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", address)
	if err != nil {
		return fmt.Errorf("--serve: listen on %s: %w", address, err)
	}
	server := &http.Server{Handler: exchangeHandler(newExchangeClient(timeout)), ReadHeaderTimeout: 10 * time.Second}
	stop := context.AfterFunc(ctx, func() { _ = server.Close() })
	defer stop()
	if err := server.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
		return fmt.Errorf("serve: %w", err)
	}
	return nil
}

// newExchangeClient makes a connection for each request, since a Service chooses the
// replica by connection, and believes every certificate: those of a test are its own.
func newExchangeClient(timeout time.Duration) *http.Client {
	return &http.Client{
		Timeout:       timeout,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		Transport:     &http.Transport{DisableKeepAlives: true, TLSClientConfig: &tls.Config{InsecureSkipVerify: true}}, //nolint:gosec // As said above.
	}
}

func exchangeHandler(client *http.Client) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var asked batch
		if err := json.NewDecoder(http.MaxBytesReader(w, r.Body, longestBatch)).Decode(&asked); err != nil {
			http.Error(w, fmt.Sprintf("the batch is not as it should be: %v", err), http.StatusBadRequest)
			return
		}
		if len(asked.Requests) > mostRequests || asked.AtOnce > mostAtOnce {
			http.Error(w, fmt.Sprintf("a batch has at most %d requests, %d at once", mostRequests, mostAtOnce), http.StatusBadRequest)
			return
		}
		// The only error is a test that left.
		_ = json.NewEncoder(w).Encode(asked.send(r.Context(), client))
	})
}

// send returns the replies in the order of the requests.
func (b batch) send(ctx context.Context, client *http.Client) []reply {
	replies := make([]reply, len(b.Requests))
	places := make(chan struct{}, max(b.AtOnce, 1))
	var sending sync.WaitGroup
	for i := range b.Requests {
		places <- struct{}{}
		sending.Go(func() {
			replies[i] = b.Requests[i].send(ctx, client)
			<-places
		})
	}
	sending.Wait()
	return replies
}

func (r request) send(ctx context.Context, client *http.Client) reply {
	began := time.Now()
	got, err := r.exchange(ctx, client)
	if err != nil {
		got.Error = err.Error()
	}
	got.Seconds = time.Since(began).Seconds()
	return got
}

func (r request) exchange(ctx context.Context, client *http.Client) (reply, error) {
	sent, err := http.NewRequestWithContext(ctx, r.Method, r.URL, strings.NewReader(r.Body))
	if err != nil {
		return reply{}, fmt.Errorf("make a request: %w", err)
	}
	if r.Header != nil {
		sent.Header = r.Header
	}
	sent.Host = r.Host
	response, err := client.Do(sent)
	if err != nil {
		return reply{}, err
	}
	defer response.Body.Close()
	body, err := io.ReadAll(io.LimitReader(response.Body, 1<<20))
	if err != nil {
		return reply{}, fmt.Errorf("read the answer: %w", err)
	}
	return reply{Status: response.StatusCode, Header: response.Header, Body: string(body)}, nil
}
