// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

// Command echo is the application that end-to-end tests put behind a sidecar. It
// answers every request with its name and how many it has answered, so that a test
// can tell which replica a request reached and what the replicas saw in total.
//
//	echo [--listen ADDRESS] [--grpc ADDRESS] [--tcp ADDRESS] [--name NAME]
//
// GET /count returns the count without adding to it; GET /healthz returns 200 and is
// not counted either. GET /socket becomes a WebSocket that ticks; --grpc serves the
// standard health service, whose Watch is a stream. After GET /fail the app is
// unhealthy in each way in which it can be asked: /healthz, gRPC, and TCP at --tcp.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/signal"
	"syscall"
	"time"
)

func main() {
	listen := flag.String("listen", ":8080", "address to listen on")
	grpcAddress := flag.String("grpc", "", "address of the gRPC health service; empty is none")
	tcpAddress := flag.String("tcp", "", "address that takes TCP connections while the app is healthy; empty is none")
	name := flag.String("name", os.Getenv("HOSTNAME"), "name to answer with; a pod's is its host name")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, *listen, *grpcAddress, *tcpAddress, *name); err != nil {
		fmt.Fprintln(os.Stderr, "echo:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, address, grpcAddress, tcpAddress, name string) error {
	health := newAppHealth()
	defer health.stop()
	for _, other := range []struct {
		address string
		serve   func(net.Listener)
	}{{grpcAddress, health.serveGRPC}, {tcpAddress, health.serveTCP}} {
		if other.address == "" {
			continue
		}
		listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", other.address)
		if err != nil {
			return fmt.Errorf("listen on %s: %w", other.address, err)
		}
		other.serve(listener)
	}
	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", address)
	if err != nil {
		return fmt.Errorf("listen on %s: %w", address, err)
	}
	fmt.Printf("echo %s listens on %s\n", name, listener.Addr())
	return serve(ctx, listener, name, health)
}

// serve answers until ctx ends, and then finishes the requests under way.
func serve(ctx context.Context, listener net.Listener, name string, health *appHealth) error {
	server := &http.Server{Handler: newHandler(name, health), ReadHeaderTimeout: 10 * time.Second}
	ended := make(chan error, 1)
	go func() { ended <- server.Serve(listener) }()
	select {
	case err := <-ended:
		return fmt.Errorf("serve: %w", err)
	case <-ctx.Done():
	}
	grace, cancel := context.WithTimeout(context.WithoutCancel(ctx), 10*time.Second)
	defer cancel()
	if err := server.Shutdown(grace); err != nil && !errors.Is(err, http.ErrServerClosed) {
		return fmt.Errorf("finish the requests under way: %w", err)
	}
	return nil
}
