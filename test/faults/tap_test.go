// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package faults

import (
	"bufio"
	"errors"
	"io"
	"net"
	"strings"
	"sync"
	"syscall"
	"testing"
)

// probeTag is in the names of the counters that probes of the limiter write.
const probeTag = "{probe}"

// tap is where sidecars connect to: it passes everything on to one server and
// counts the script calls on their way.
type tap struct {
	addr string
	// upstream is the server, or what stands before it.
	upstream string
	// rewrite may change the words of a script call; nil changes none.
	rewrite func(words []string) []string

	mu       sync.Mutex
	listener net.Listener
	open     map[*tapped]struct{}
	// counts are those of each sidecar, by its namespace.
	counts   map[string]*tapCounts
	greeting int64
	running  sync.WaitGroup
}

// tapCounts is what passed a tap for one sidecar.
type tapCounts struct {
	// Calls are script calls that were sent, probes apart, and Failed those of them
	// that got no whole answer, or an error that says more than where to ask or
	// that the script must be sent.
	Calls, Failed int64
	// Probes are the calls of the limiter's own probe.
	Probes int64
	// Connections are those open now that had a script call, and Most the most at
	// any time.
	Connections, Most int64
}

// tapped is one connection through a tap.
type tapped struct {
	tap            *tap
	client, server net.Conn

	// All that follows is guarded by tap.mu. Pending are the commands that wait for
	// their replies.
	pending []command
	// namespace is that of the first script call.
	namespace string
	// streams says that what comes is no reply to a command any more.
	streams bool
}

type command struct {
	// namespace is that of a script call; empty for any other command.
	namespace string
	probe     bool
}

// commandOf tells a script call, by its first key, from other commands.
func commandOf(words []string) command {
	if name := strings.ToUpper(words[0]); name != "EVALSHA" && name != "EVAL" || len(words) < 4 {
		return command{}
	}
	parts := strings.Split(words[3], ":")
	if len(parts) < 5 {
		return command{}
	}
	return command{namespace: parts[2], probe: parts[3] == probeTag}
}

func startTap(t *testing.T, upstream string) *tap {
	t.Helper()
	p := &tap{addr: "127.0.0.1:0", upstream: upstream, open: make(map[*tapped]struct{}), counts: make(map[string]*tapCounts)}
	p.up(t)
	p.addr = p.listener.Addr().String()
	t.Cleanup(p.down)
	return p
}

// up has the tap listen, again on the same port after down.
func (p *tap) up(t *testing.T) {
	t.Helper()
	listener, err := net.Listen("tcp", p.addr)
	if err != nil {
		t.Fatalf("listen for a sidecar: %v", err)
	}
	p.mu.Lock()
	p.listener = listener
	p.mu.Unlock()
	p.running.Go(func() {
		for {
			client, err := listener.Accept()
			if err != nil {
				return
			}
			p.running.Go(func() { p.pass(client) })
		}
	})
}

// down refuses connections and ends those there are.
func (p *tap) down() {
	p.mu.Lock()
	_ = p.listener.Close()
	for c := range p.open {
		_ = c.client.Close()
		_ = c.server.Close()
	}
	p.mu.Unlock()
	p.running.Wait()
}

// read returns what was counted for a sidecar so far.
func (p *tap) read(namespace string) tapCounts {
	p.mu.Lock()
	defer p.mu.Unlock()
	return *p.of(namespace)
}

// of is called with the lock held.
func (p *tap) of(namespace string) *tapCounts {
	if p.counts[namespace] == nil {
		p.counts[namespace] = &tapCounts{}
	}
	return p.counts[namespace]
}

// greetingBytes is how many bytes the server sent on the last connection that had a
// script call, before the answer to the first.
func (p *tap) greetingBytes() int64 {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.greeting
}

func (p *tap) pass(client net.Conn) {
	defer client.Close()
	server, err := net.Dial("tcp", p.upstream)
	if err != nil {
		return
	}
	defer server.Close()
	c := &tapped{tap: p, client: client, server: server}
	p.mu.Lock()
	p.open[c] = struct{}{}
	p.mu.Unlock()
	var replying sync.WaitGroup
	replying.Go(c.passReplies)
	c.passCommands()
	_ = server.Close()
	replying.Wait()
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.open, c)
	if c.namespace != "" {
		p.of(c.namespace).Connections--
	}
	for _, unanswered := range c.pending {
		p.answered(unanswered, "")
	}
}

// passCommands ends when either side is closed.
func (c *tapped) passCommands() {
	from := bufio.NewReader(c.client)
	for {
		words, err := readCommand(from)
		if err != nil {
			return
		}
		sent := commandOf(words)
		if sent.namespace != "" && c.tap.rewrite != nil {
			words = c.tap.rewrite(words)
		}
		c.sent(sent, strings.EqualFold(words[0], "PSYNC"))
		if _, err := c.server.Write(appendCommand(nil, words)); err != nil {
			return
		}
	}
}

func (c *tapped) sent(asked command, streams bool) {
	c.tap.mu.Lock()
	defer c.tap.mu.Unlock()
	c.streams = c.streams || streams
	c.pending = append(c.pending, asked)
	if asked.namespace == "" {
		return
	}
	count := c.tap.of(asked.namespace)
	if c.namespace == "" {
		c.namespace = asked.namespace
		count.Connections++
		count.Most = max(count.Most, count.Connections)
	}
	if asked.probe {
		count.Probes++
	} else {
		count.Calls++
	}
}

// passReplies passes bytes on as they come, and counts whole replies.
func (c *tapped) passReplies() {
	// The client must notice how the connection ended.
	defer c.client.Close()
	var greeting int64
	from := bufio.NewReader(io.TeeReader(c.server, writing(func(data []byte) (int, error) {
		c.tap.mu.Lock()
		if c.namespace == "" {
			greeting += int64(len(data))
		} else if greeting > 0 {
			c.tap.greeting, greeting = greeting, 0
		}
		c.tap.mu.Unlock()
		return c.client.Write(data)
	})))
	for {
		line, err := readReply(from)
		if err != nil {
			if socket, ok := c.client.(*net.TCPConn); ok && errors.Is(err, syscall.ECONNRESET) {
				_ = socket.SetLinger(0)
			}
			return
		}
		c.tap.mu.Lock()
		if len(c.pending) > 0 {
			c.tap.answered(c.pending[0], line)
			c.pending = c.pending[1:]
		}
		streams := c.streams
		c.tap.mu.Unlock()
		if streams {
			// A replica reads from now on.
			_, _ = io.Copy(io.Discard, from)
			return
		}
	}
}

type writing func([]byte) (int, error)

func (w writing) Write(data []byte) (int, error) { return w(data) }

// elsewhere are error replies to calls that were not executed and may be repeated.
var elsewhere = []string{"-NOSCRIPT", "-MOVED", "-ASK", "-TRYAGAIN"}

// answered counts a call by its reply's first line, which is empty if none came.
func (p *tap) answered(asked command, line string) {
	if asked.namespace == "" || asked.probe {
		return
	}
	if line != "" && line[0] != '-' {
		return
	}
	for _, prefix := range elsewhere {
		if strings.HasPrefix(line, prefix) {
			return
		}
	}
	p.of(asked.namespace).Failed++
}
