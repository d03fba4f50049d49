// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package redistest

import (
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/redis/go-redis/v9/maintnotifications"
)

// startAttempts bounds how often another port is tried.
const startAttempts = 10

// Option changes how a server is started.
type Option func(*Server)

// WithConfig adds lines of redis.conf, such as "maxmemory 10mb".
func WithConfig(lines ...string) Option {
	return func(s *Server) { s.lines = append(s.lines, lines...) }
}

// WithUsers adds ACL users, each as in a redis.conf line after the word user:
// "app on >secret ~penstock:* +@all". The default user stays, without password.
func WithUsers(users ...string) Option {
	return func(s *Server) {
		for _, user := range users {
			s.lines = append(s.lines, "user "+user)
		}
	}
}

// WithTLS serves TLS only, with a certificate made for this server.
func WithTLS() Option {
	return func(s *Server) { s.authority = &authority{} }
}

// WithClientCertificates serves TLS only, and only to clients whose certificate
// the server's own authority has signed, see ClientCertificate.
func WithClientCertificates() Option {
	return func(s *Server) { s.authority = &authority{asksClients: true} }
}

// WithPassword has the default user need a password.
func WithPassword(password string) Option {
	return func(s *Server) {
		s.password = password
		s.lines = append(s.lines, "requirepass "+password)
	}
}

// WithSocket serves on a Unix socket besides, see Socket.
func WithSocket() Option {
	return func(s *Server) { s.hasSocket = true }
}

// WithEnvironment adds variables to the process's environment, each as NAME=value.
func WithEnvironment(variables ...string) Option {
	return func(s *Server) { s.variables = append(s.variables, variables...) }
}

// Server is one redis-server.
type Server struct {
	tb        testing.TB
	dir       string
	port      int
	busPort   int
	lines     []string
	ready     string
	arguments []string
	variables []string
	authority *authority
	password  string
	hasSocket bool
	process   *process
}

// Start runs a redis-server until the test ends.
func Start(tb testing.TB, options ...Option) *Server {
	tb.Helper()
	s := &Server{tb: tb, dir: tb.TempDir(), ready: "Ready to accept connections"}
	for _, option := range options {
		option(s)
	}
	if s.authority != nil {
		made, err := newAuthority(s.dir)
		if err != nil {
			tb.Fatal(err)
		}
		made.asksClients = s.authority.asksClients
		s.authority = made
	}
	s.startOnFreePort()
	tb.Cleanup(s.Stop)
	return s
}

func (s *Server) startOnFreePort() {
	s.tb.Helper()
	for range startAttempts {
		var err error
		if s.port, err = freePort(); err != nil {
			s.tb.Fatal(err)
		}
		if s.busPort, err = freePort(); err != nil {
			s.tb.Fatal(err)
		}
		err = s.start()
		if err == nil {
			return
		}
		if !errors.Is(err, errPortTaken) {
			s.tb.Fatal(err)
		}
	}
	s.tb.Fatalf("start redis-server: no free port in %d attempts", startAttempts)
}

func (s *Server) start() error {
	path := filepath.Join(s.dir, "redis.conf")
	if err := os.WriteFile(path, []byte(s.config()), 0o600); err != nil {
		return fmt.Errorf("write redis.conf: %w", err)
	}
	started, err := launch(program(s.tb), s.dir, s.ready, s.variables, append([]string{path}, s.arguments...)...)
	if err != nil {
		return err
	}
	s.process = started
	return nil
}

func (s *Server) config() string {
	port := strconv.Itoa(s.port)
	lines := []string{"bind 127.0.0.1", "protected-mode no", "dir " + s.dir, "save \"\"", "appendonly no"}
	if s.authority == nil {
		lines = append(lines, "port "+port)
	} else {
		lines = append(lines, "port 0", "tls-port "+port)
		lines = append(lines, s.authority.config()...)
	}
	if s.hasSocket {
		lines = append(lines, "unixsocket "+s.Socket(), "unixsocketperm 700")
	}
	lines = append(lines, s.lines...)
	return strings.ReplaceAll(strings.Join(lines, "\n"), "{bus}", strconv.Itoa(s.busPort)) + "\n"
}

// Addr is where the server listens: host:port.
func (s *Server) Addr() string { return net.JoinHostPort("127.0.0.1", strconv.Itoa(s.port)) }

// CA is the PEM-encoded certificate that signed the server's; nil without TLS.
func (s *Server) CA() []byte {
	if s.authority == nil {
		return nil
	}
	return s.authority.pem
}

// ClientCertificate makes a certificate that the server takes, for a client of
// that name, and its key, both PEM-encoded. It needs a server with TLS.
func (s *Server) ClientCertificate(tb testing.TB, name string) (certificate, key []byte) {
	tb.Helper()
	if s.authority == nil {
		tb.Fatal("a certificate for a server without TLS")
	}
	made, err := s.authority.signClient(name)
	if err != nil {
		tb.Fatal(err)
	}
	return made.certificate, made.key
}

// Socket is the path of the Unix socket of a server that was started WithSocket.
func (s *Server) Socket() string { return filepath.Join(s.dir, "redis.sock") }

// ServerName is the only name in the server's certificate: no address is in it.
func (s *Server) ServerName() string { return serverName }

// Client returns a client of the default user, closed when the test ends.
func (s *Server) Client(tb testing.TB) *redis.Client {
	tb.Helper()
	return s.ClientAs(tb, "", s.password)
}

// ClientAs returns a client of an ACL user, closed when the test ends.
func (s *Server) ClientAs(tb testing.TB, username, password string) *redis.Client {
	tb.Helper()
	var secured *tls.Config
	if s.authority != nil {
		var err error
		if secured, err = s.authority.clientConfig(); err != nil {
			tb.Fatal(err)
		}
	}
	client := redis.NewClient(&redis.Options{
		Addr: s.Addr(), Username: username, Password: password, TLSConfig: secured,
		DialTimeout: 5 * time.Second, ReadTimeout: 5 * time.Second, ContextTimeoutEnabled: true,
		MaintNotificationsConfig: &maintnotifications.Config{Mode: maintnotifications.ModeDisabled},
	})
	tb.Cleanup(func() { _ = client.Close() })
	return client
}

// Pause stops the process from running; its connections stay open. It stands
// for a store that hangs.
func (s *Server) Pause() { s.signal(syscall.SIGSTOP) }

// Resume lets a paused process go on.
func (s *Server) Resume() { s.signal(syscall.SIGCONT) }

func (s *Server) signal(signal syscall.Signal) {
	s.tb.Helper()
	if err := s.process.handle.Signal(signal); err != nil {
		s.tb.Fatalf("send %v to redis-server: %v", signal, err)
	}
}

// Stop ends the process at once, also a paused or stopped one.
func (s *Server) Stop() { s.process.kill() }

// Restart starts the server again on the same address, stopping it first if it
// runs. Data and loaded scripts are gone, as nothing is kept on disk.
func (s *Server) Restart() {
	s.tb.Helper()
	s.Stop()
	if err := s.start(); err != nil {
		s.tb.Fatalf("restart redis-server on %s: %v", s.Addr(), err)
	}
}
