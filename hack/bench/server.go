// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"runtime"
	"strconv"
	"strings"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/redis/go-redis/v9/maintnotifications"
)

const (
	// startAttempts is how many ports are tried: another process may take one.
	startAttempts = 5
	startTimeout  = 20 * time.Second
	// longest bounds one command to Redis; flushing a million keys takes a while.
	longest = 30 * time.Second
)

// server is the Redis that everything is measured on: on a loopback port of its
// own, without persistence, dying with this process.
type server struct {
	address string
	client  *redis.Client
	process *os.Process
	exited  chan struct{}
	folder  string
}

// startServer starts the redis-server that $REDIS_SERVER names, or the one on PATH.
func startServer(ctx context.Context) (*server, error) {
	program := os.Getenv("REDIS_SERVER")
	if program == "" {
		program = "redis-server"
	}
	path, err := exec.LookPath(program)
	if err != nil {
		return nil, fmt.Errorf("find redis-server: %w; install it (make redis-server) or set REDIS_SERVER to the program", err)
	}
	folder, err := os.MkdirTemp("", "penstock-bench-")
	if err != nil {
		return nil, fmt.Errorf("make a folder for redis-server: %w", err)
	}
	var failed error
	for range startAttempts {
		s := &server{folder: folder, exited: make(chan struct{})}
		if failed = s.start(path); failed == nil {
			s.client = redis.NewClient(&redis.Options{
				Addr: s.address, ReadTimeout: longest, ContextTimeoutEnabled: true,
				MaintNotificationsConfig: &maintnotifications.Config{Mode: maintnotifications.ModeDisabled},
			})
			if failed = s.client.Ping(ctx).Err(); failed == nil {
				return s, nil
			}
			s.stop()
		}
	}
	return nil, errors.Join(fmt.Errorf("start redis-server: %w", failed), os.RemoveAll(folder))
}

func (s *server) start(path string) error {
	port, err := freePort()
	if err != nil {
		return err
	}
	s.address = net.JoinHostPort("127.0.0.1", strconv.Itoa(port))
	command := exec.Command(path, "--bind", "127.0.0.1", "--port", strconv.Itoa(port), "--dir", s.folder,
		"--save", "", "--appendonly", "no", "--daemonize", "no")
	command.SysProcAttr = dieWithParent()
	output, err := command.StdoutPipe()
	if err != nil {
		return fmt.Errorf("read redis-server's output: %w", err)
	}
	started, ready := make(chan error, 1), make(chan struct{})
	go func() {
		// The kernel ends a child when the thread that started it ends.
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		err := command.Start()
		started <- err
		if err != nil {
			return
		}
		readUntil(output, "Ready to accept connections", ready)
		// It is killed: its status tells nothing.
		_ = command.Wait()
		close(s.exited)
	}()
	if err := <-started; err != nil {
		return fmt.Errorf("run %s: %w", path, err)
	}
	s.process = command.Process
	select {
	case <-ready:
		return nil
	case <-s.exited:
		return fmt.Errorf("run %s: it ended at once", path)
	case <-time.After(startTimeout):
		s.kill()
		return fmt.Errorf("run %s: not ready after %v", path, startTimeout)
	}
}

// readUntil closes found once a line holds the words, and reads on until the end.
func readUntil(output io.Reader, words string, found chan<- struct{}) {
	lines := bufio.NewScanner(output)
	for lines.Scan() {
		if found != nil && strings.Contains(lines.Text(), words) {
			close(found)
			found = nil
		}
	}
}

func freePort() (int, error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return 0, fmt.Errorf("find a free port: %w", err)
	}
	defer func() { _ = listener.Close() }()
	return listener.Addr().(*net.TCPAddr).Port, nil
}

func (s *server) pid() int { return s.process.Pid }

func (s *server) kill() {
	_ = s.process.Kill()
	<-s.exited
}

func (s *server) stop() {
	_ = s.client.Close()
	s.kill()
	_ = os.RemoveAll(s.folder)
}

// usage is what Redis has spent since it started.
type usage struct {
	cpu time.Duration
	// calls is how many scripts it ran.
	calls int64
}

func (s *server) usage(ctx context.Context) (usage, error) {
	text, err := s.client.InfoMap(ctx, "cpu", "commandstats").Result()
	if err != nil {
		return usage{}, fmt.Errorf("ask Redis what it spent: %w", err)
	}
	var used usage
	for _, name := range []string{"used_cpu_user", "used_cpu_sys"} {
		seconds, err := strconv.ParseFloat(text["CPU"][name], 64)
		if err != nil {
			return usage{}, fmt.Errorf("read %s of Redis: %w", name, err)
		}
		used.cpu += time.Duration(seconds * float64(time.Second))
	}
	for name, value := range text["Commandstats"] {
		if !strings.HasPrefix(name, "cmdstat_eval") {
			continue
		}
		var calls int64
		if _, err := fmt.Sscanf(value, "calls=%d,", &calls); err != nil {
			return usage{}, fmt.Errorf("read %s of Redis: %w", name, err)
		}
		used.calls += calls
	}
	return used, nil
}

// memory is how many bytes Redis has allocated for keys: what they hold, and the hash
// tables. The buffers of clients come and go, and are not among them.
func (s *server) memory(ctx context.Context) (int64, error) {
	reply, err := s.client.Do(ctx, "MEMORY", "STATS").Result()
	if err != nil {
		return 0, fmt.Errorf("ask Redis for its memory: %w", err)
	}
	bytes := int64(0)
	walkFields(reply, func(name string, value any) {
		if count, ok := value.(int64); ok && countedFields[name] {
			bytes += count
		}
	})
	return bytes, nil
}

// countedFields are those of MEMORY STATS that are about keys.
var countedFields = map[string]bool{
	"dataset.bytes": true, "overhead.hashtable.main": true, "overhead.hashtable.expires": true,
}

// walkFields visits all fields of a reply, also those of fields. How they come depends
// on the version of the protocol.
func walkFields(reply any, visit func(name string, value any)) {
	visitField := func(name, value any) {
		if text, ok := name.(string); ok {
			visit(text, value)
		}
		walkFields(value, visit)
	}
	switch fields := reply.(type) {
	case map[any]any:
		for name, value := range fields {
			visitField(name, value)
		}
	case []any:
		for i := 0; i+1 < len(fields); i += 2 {
			visitField(fields[i], fields[i+1])
		}
	}
}

// empty drops all keys.
func (s *server) empty(ctx context.Context) error {
	if err := s.client.FlushAll(ctx).Err(); err != nil {
		return fmt.Errorf("empty Redis: %w", err)
	}
	return nil
}
