// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"fmt"
	"time"

	"github.com/coder/websocket"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	healthpb "google.golang.org/grpc/health/grpc_health_v1"
)

// held is what became of a stream.
type held struct {
	// Seconds is how long it lived.
	Seconds float64 `json:"seconds"`
	// Messages is how many came.
	Messages int `json:"messages"`
	// Ended is why it ended.
	Ended string `json:"ended"`
}

// hold reads a stream until it ends, and calls begun when it has begun; it fails if it
// does not.
func hold(ctx context.Context, open func(ctx context.Context) (next func() error, err error), begun func()) (held, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	next, err := open(ctx)
	if err == nil {
		err = next()
	}
	if err != nil {
		return held{}, fmt.Errorf("open the stream: %w", err)
	}
	began := time.Now()
	begun()
	for messages := 1; ; messages++ {
		if err := next(); err != nil {
			return held{Seconds: time.Since(began).Seconds(), Messages: messages, Ended: err.Error()}, nil
		}
	}
}

// openWebSocket opens the WebSocket at a URL.
func openWebSocket(target string) func(ctx context.Context) (func() error, error) {
	return func(ctx context.Context) (func() error, error) {
		socket, _, err := websocket.Dial(ctx, target, nil)
		if err != nil {
			return nil, err
		}
		return func() error {
			_, _, err := socket.Read(ctx)
			return err
		}, nil
	}
}

// openWatch opens a stream of the gRPC health service at host:port.
func openWatch(target string) func(ctx context.Context) (func() error, error) {
	return func(ctx context.Context) (func() error, error) {
		client, err := grpc.NewClient(target, grpc.WithTransportCredentials(insecure.NewCredentials()))
		if err != nil {
			return nil, err
		}
		context.AfterFunc(ctx, func() { _ = client.Close() })
		stream, err := healthpb.NewHealthClient(client).Watch(ctx, &healthpb.HealthCheckRequest{}, grpc.WaitForReady(true))
		if err != nil {
			return nil, err
		}
		return func() error {
			_, err := stream.Recv()
			return err
		}, nil
	}
}
