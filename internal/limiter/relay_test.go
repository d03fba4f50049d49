// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package limiter

import (
	"io"
	"net"
	"sync"
	"sync/atomic"
	"testing"
)

// relay passes bytes between clients and a server, and can lose a reply.
type relay struct {
	listener net.Listener
	server   string
	// cutting makes the relay pass only so many bytes of the next reply and
	// then cut the connection; negative passes everything.
	cutting     atomic.Int64
	connections atomic.Int64
	mu          sync.Mutex
	open        []net.Conn
}

func startRelay(t *testing.T, server string) *relay {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	r := &relay{listener: listener, server: server}
	r.cutting.Store(-1)
	var running sync.WaitGroup
	running.Go(func() {
		for {
			client, err := listener.Accept()
			if err != nil {
				return
			}
			r.connections.Add(1)
			running.Go(func() { r.pass(client) })
		}
	})
	t.Cleanup(func() {
		_ = listener.Close()
		r.mu.Lock()
		for _, connection := range r.open {
			_ = connection.Close()
		}
		r.mu.Unlock()
		running.Wait()
	})
	return r
}

func (r *relay) pass(client net.Conn) {
	defer client.Close()
	server, err := net.Dial("tcp", r.server)
	if err != nil {
		return
	}
	defer server.Close()
	r.mu.Lock()
	r.open = append(r.open, client, server)
	r.mu.Unlock()
	go func() {
		// The copy ends when either side is closed, which is not an error here.
		_, _ = io.Copy(server, client)
		_ = server.Close()
	}()
	buffer := make([]byte, 4096)
	for {
		count, err := server.Read(buffer)
		if count > 0 {
			if keep := r.cutting.Swap(-1); keep >= 0 {
				_, _ = client.Write(buffer[:min(int(keep), count)])
				return
			}
			if _, err := client.Write(buffer[:count]); err != nil {
				return
			}
		}
		if err != nil {
			return
		}
	}
}
