// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

// Command load is the client of end-to-end tests: it sends a number of requests from
// inside the cluster and prints, as one line of JSON, how many were answered with
// each status and by each pod.
//
//	load --url URL [--requests N] [--concurrency N] [--rate N] [--keep-alive] [--timeout DURATION]
//
// It follows no redirect and repeats nothing, so that a request it counts is one
// request. Each has a connection of its own; with --keep-alive they are POSTs, which
// no library sends again, on connections that are kept. Instead of --url,
// --websocket URL or --grpc HOST:PORT holds one stream until it ends, and tells how
// long it lived. --serve ADDRESS instead takes batches of requests from a test by POST
// and answers with what each was answered: see exchange.go. The exit status is zero
// when every request was answered, whatever the status.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"syscall"
	"time"
)

func main() {
	var p plan
	var socket, watch, exchanges string
	flag.StringVar(&exchanges, "serve", "", "take batches of requests at this address")
	flag.StringVar(&socket, "websocket", "", "hold the WebSocket at this URL")
	flag.StringVar(&watch, "grpc", "", "hold a stream of the gRPC health service at this host:port")
	flag.StringVar(&p.URL, "url", "", "where to send requests (required)")
	flag.IntVar(&p.Requests, "requests", 1, "how many requests, 1 to 1000000")
	flag.IntVar(&p.Concurrency, "concurrency", 1, "how many at a time, 1 to 1000")
	flag.IntVar(&p.Rate, "rate", 0, "how many requests a second at most; 0 is as many as there are answers")
	flag.BoolVar(&p.KeepAlive, "keep-alive", false, "keep connections")
	flag.DurationVar(&p.Timeout, "timeout", 10*time.Second, "longest wait for one answer")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	var err error
	switch {
	case socket != "":
		err = runHold(ctx, openWebSocket(socket))
	case watch != "":
		err = runHold(ctx, openWatch(watch))
	case exchanges != "":
		err = serveExchanges(ctx, exchanges, p.Timeout)
	default:
		err = run(ctx, p)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "load:", err)
		os.Exit(1)
	}
}

func runHold(ctx context.Context, open func(context.Context) (func() error, error)) error {
	result, err := hold(ctx, open, func() { fmt.Fprintln(os.Stderr, "load: the stream has begun") })
	if err != nil {
		return err
	}
	if err := json.NewEncoder(os.Stdout).Encode(result); err != nil {
		return fmt.Errorf("print the result: %w", err)
	}
	return nil
}

func run(ctx context.Context, p plan) error {
	if err := p.validate(); err != nil {
		return err
	}
	r := p.run(ctx)
	if err := json.NewEncoder(os.Stdout).Encode(r); err != nil {
		return fmt.Errorf("print the result: %w", err)
	}
	if r.Errors > 0 {
		return fmt.Errorf("%d of %d requests had no answer, the first: %w", r.Errors, p.Requests, errors.New(r.FirstError))
	}
	return nil
}
