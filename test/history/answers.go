// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package history

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net"
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

// answers tells when the store answered the give-backs of one limiter. The limiter
// waits for none of them, and sends them one call after the other in the order in
// which they were made, so counting what goes over its connections is enough.
type answers struct {
	mu sync.Mutex
	// made is how many give-backs were made.
	made int
	// times are when they were answered, in order, in microseconds since the epoch.
	times []int64
}

// giveBack is how a give-back begins in a call.
var giveBack = []byte("\r\n$4\r\nback\r\n")

// pieceSize is more than most calls take.
const pieceSize = 1 << 16

// make makes a give-back and returns its number.
func (a *answers) make(settle func()) int {
	a.mu.Lock()
	defer a.mu.Unlock()
	settle()
	a.made++
	return a.made
}

// answered is when a give-back was answered; false if it was not.
func (a *answers) answered(number int) (int64, bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if number > len(a.times) {
		return 0, false
	}
	return a.times[number-1], true
}

func (a *answers) add(count int) {
	if count == 0 {
		return
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	a.times = append(a.times, slices.Repeat([]int64{time.Now().UnixMicro()}, count)...)
}

// relay listens for the limiter's connections and passes them on to the store. It
// returns its own address, and ends with the context.
func (a *answers) relay(ctx context.Context, store string) (string, error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", fmt.Errorf("listen to a limiter: %w", err)
	}
	context.AfterFunc(ctx, func() { _ = listener.Close() })
	go func() {
		for {
			client, err := listener.Accept()
			if err != nil {
				return
			}
			go a.pass(ctx, client, store)
		}
	}()
	return listener.Addr().String(), nil
}

// pass passes on what is said on one connection, on which one call is made at a time.
func (a *answers) pass(ctx context.Context, client net.Conn, store string) {
	defer client.Close()
	server, err := new(net.Dialer).DialContext(ctx, "tcp", store)
	if err != nil {
		return
	}
	var asked atomic.Int64
	go func() {
		defer server.Close()
		var end []byte
		copyTo(server, client, func(data []byte) {
			// One may be read in two pieces.
			data = append(end, data...)
			asked.Add(int64(bytes.Count(data, giveBack)))
			end = slices.Clone(data[max(0, len(data)-len(giveBack)+1):])
		})
	}()
	copyTo(client, server, func(data []byte) {
		// An error says that nothing was done, as where the store forgot the script.
		if count := int(asked.Swap(0)); data[0] != '-' {
			a.add(count)
		}
	})
}

// copyTo copies until one side closes, and tells what it read before it is passed on.
func copyTo(to io.Writer, from io.Reader, tell func([]byte)) {
	buffer := make([]byte, pieceSize)
	for {
		read, err := from.Read(buffer)
		if err != nil {
			return
		}
		tell(buffer[:read])
		if _, err := to.Write(buffer[:read]); err != nil {
			return
		}
	}
}
