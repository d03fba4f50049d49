// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package redisconn

import (
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"sync"
	"sync/atomic"

	"github.com/redis/go-redis/v9"
)

// errOneConnection keeps a link's client from dialling again: a request must never
// wait for that.
var errOneConnection = errors.New("the connection is lost; another one is being made")

// Link is one open connection to a Redis, handshake done. One call at a time may
// use it.
type Link struct {
	client *redis.Client
	conn   *redis.Conn
	socket net.Conn
	lost   chan struct{}
	lose   func()
}

// Process sends a command, once, and reads its reply. The context's deadline is
// that of the whole call; a command without one waits for ever.
func (l *Link) Process(ctx context.Context, command redis.Cmder) error {
	return l.conn.Process(ctx, command)
}

// ProcessAll sends commands together, each once, and reads their replies. Each
// command has its own error; what is returned is the first of them.
func (l *Link) ProcessAll(ctx context.Context, commands []redis.Cmder) error {
	pipeline := l.conn.Pipeline()
	for _, command := range commands {
		if err := pipeline.Process(ctx, command); err != nil {
			return err
		}
	}
	_, err := pipeline.Exec(ctx)
	return err
}

// Lose gives up the connection: its Keeper closes it and opens another.
func (l *Link) Lose() { l.lose() }

// IsOpen says whether the idle connection can still be used, as far as this side
// knows: the other end has not closed it, and has sent nothing unasked.
func (l *Link) IsOpen() bool { return isQuiet(l.socket) }

func (l *Link) close() {
	// What remains of a connection that is given up has nothing to tell.
	_ = l.conn.Close()
	_ = l.client.Close()
	_ = l.socket.Close()
}

// openLink dials and shakes hands, within the options' DialTimeout.
func openLink(ctx context.Context, options *redis.Options) (*Link, error) {
	ctx, cancel := context.WithTimeout(ctx, options.DialTimeout)
	defer cancel()
	socket, err := connect(ctx, options)
	if err != nil {
		return nil, fmt.Errorf("connect to the store: %w", err)
	}
	client := redis.NewClient(onceConnected(options, socket))
	link := &Link{client: client, conn: client.Conn(), socket: socket, lost: make(chan struct{})}
	link.lose = sync.OnceFunc(func() { close(link.lost) })
	// Go-redis looks at a deadline, not at the end of a context.
	interrupted := context.AfterFunc(ctx, func() { _ = socket.Close() })
	err = link.conn.Ping(ctx).Err()
	if !interrupted() && err == nil {
		err = ctx.Err()
	}
	if err != nil {
		link.close()
		return nil, fmt.Errorf("greet the store: %w", err)
	}
	return link, nil
}

// connect dials as the options say: with their own Dialer if they have one.
func connect(ctx context.Context, options *redis.Options) (net.Conn, error) {
	network := cmp.Or(options.Network, "tcp")
	if options.Dialer != nil {
		return options.Dialer(ctx, network, options.Addr)
	}
	return dial(ctx, network, options.Addr, options.TLSConfig)
}

// dial connects, in clear text if nothing is said about TLS.
func dial(ctx context.Context, network, address string, secured *tls.Config) (net.Conn, error) {
	if secured == nil {
		return new(net.Dialer).DialContext(ctx, network, address)
	}
	return (&tls.Dialer{Config: secured}).DialContext(ctx, network, address)
}

// onceConnected are the options of a client that has this one connection, sends
// each command once, and obeys nothing but the deadlines of contexts: go-redis adds
// its own timeouts to a clock that is up to 50 ms late, which ends short ones early.
func onceConnected(options *redis.Options, socket net.Conn) *redis.Options {
	own := *options
	var used atomic.Bool
	own.Dialer = func(context.Context, string, string) (net.Conn, error) {
		if used.Swap(true) {
			return nil, errOneConnection
		}
		return &lastLook{Conn: socket}, nil
	}
	own.MaxRetries, own.DialerRetries = -1, 1
	own.ContextTimeoutEnabled, own.ReadTimeout, own.WriteTimeout = true, -1, -1
	own.PoolSize, own.MaxActiveConns, own.MinIdleConns, own.PipelinePoolSize = 1, 1, 0, -1
	own.ConnMaxIdleTime, own.ConnMaxLifetime = -1, -1
	return &own
}
