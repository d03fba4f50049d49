// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

// Command echo is the application that end-to-end tests put behind a sidecar. It
// answers every request with its name and how many it has answered, so that a test
// can tell which replica a request reached and what the replicas saw in total.
//
//	echo [--listen ADDRESS]... [--tls ADDRESS --certificates FOLDER] [--grpc ADDRESS] [--tcp ADDRESS] [--name NAME]
//
// A request's query says how it wants to be answered: status=401, cost=7 (as X-Cost),
// wait=1s. GET /count returns the count without adding to it; GET /healthz returns 200
// and is not counted either. PUT /document keeps a text that GET /document returns,
// such as an issuer's keys; --tls serves all of it over TLS, by the files tls.crt and
// tls.key of the folder. GET /socket becomes a WebSocket that ticks; --grpc serves the
// standard health service, whose Watch is a stream. After GET /fail the app is
// unhealthy in each way in which it can be asked: /healthz, gRPC, and TCP at --tcp.
package main

import (
	"context"
	"crypto/tls"
	"errors"
	"flag"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"
	"time"
)

func main() {
	var a addresses
	flag.Func("listen", "address to listen on (repeatable, default :8080)", func(value string) error {
		a.http = append(a.http, value)
		return nil
	})
	flag.StringVar(&a.tls, "tls", "", "address of the same over TLS; empty is none")
	flag.StringVar(&a.certificates, "certificates", "", "folder with tls.crt and tls.key")
	flag.StringVar(&a.grpc, "grpc", "", "address of the gRPC health service; empty is none")
	flag.StringVar(&a.tcp, "tcp", "", "address that takes TCP connections while the app is healthy; empty is none")
	name := flag.String("name", os.Getenv("HOSTNAME"), "name to answer with; a pod's is its host name")
	flag.Parse()
	if len(a.http) == 0 {
		a.http = []string{":8080"}
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, a, *name); err != nil {
		fmt.Fprintln(os.Stderr, "echo:", err)
		os.Exit(1)
	}
}

// addresses are where the app listens, and for what.
type addresses struct {
	http                         []string
	tls, certificates, grpc, tcp string
}

func run(ctx context.Context, a addresses, name string) error {
	health := newAppHealth()
	defer health.stop()
	for _, other := range []struct {
		address string
		serve   func(net.Listener)
	}{{a.grpc, health.serveGRPC}, {a.tcp, health.serveTCP}} {
		if other.address == "" {
			continue
		}
		listener, err := listenOn(ctx, other.address)
		if err != nil {
			return err
		}
		other.serve(listener)
	}
	var listeners []net.Listener
	for _, address := range a.http {
		listener, err := listenOn(ctx, address)
		if err != nil {
			return err
		}
		listeners = append(listeners, listener)
	}
	if a.tls != "" {
		listener, err := listenTLS(ctx, a.tls, a.certificates)
		if err != nil {
			return err
		}
		listeners = append(listeners, listener)
	}
	return serve(ctx, listeners, name, health)
}

func listenOn(ctx context.Context, address string) (net.Listener, error) {
	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", address)
	if err != nil {
		return nil, fmt.Errorf("listen on %s: %w", address, err)
	}
	return listener, nil
}

func listenTLS(ctx context.Context, address, folder string) (net.Listener, error) {
	certificate, err := tls.LoadX509KeyPair(filepath.Join(folder, "tls.crt"), filepath.Join(folder, "tls.key"))
	if err != nil {
		return nil, fmt.Errorf("--tls needs tls.crt and tls.key in the folder that --certificates names: %w", err)
	}
	listener, err := listenOn(ctx, address)
	if err != nil {
		return nil, err
	}
	return tls.NewListener(listener, &tls.Config{Certificates: []tls.Certificate{certificate}, MinVersion: tls.VersionTLS12}), nil
}

// serve answers until ctx ends, and then finishes the requests under way.
func serve(ctx context.Context, listeners []net.Listener, name string, health *appHealth) error {
	server := &http.Server{Handler: newHandler(name, health), ReadHeaderTimeout: 10 * time.Second}
	ended := make(chan error, len(listeners))
	for _, listener := range listeners {
		fmt.Printf("echo %s listens on %s\n", name, listener.Addr())
		go func() { ended <- server.Serve(listener) }()
	}
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
