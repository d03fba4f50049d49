// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package faults

import (
	"crypto/sha1"
	_ "embed"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

//go:embed testdata/clock.c
var clockSource []byte

// clock is a store's clock that steps.
type clock interface {
	step(t *testing.T, by time.Duration)
}

// newClock has a scene's store show a clock that can step: the whole process where
// there is a C compiler, else the scripts on their way to it.
func (s *scene) newClock() clock {
	s.t.Helper()
	compiler := os.Getenv("CC")
	if compiler == "" {
		compiler = "cc"
	}
	path, err := exec.LookPath(compiler)
	if err != nil || runtime.GOOS != "linux" {
		c := &scriptClock{texts: make(map[string]string)}
		s.rewrite = c.rewrite
		return c
	}
	c := &processClock{file: filepath.Join(s.t.TempDir(), "offset")}
	if err := os.WriteFile(c.file, make([]byte, 8), 0o600); err != nil {
		s.t.Fatal(err)
	}
	source, library := filepath.Join(s.t.TempDir(), "clock.c"), filepath.Join(s.t.TempDir(), "clock.so")
	if err := os.WriteFile(source, clockSource, 0o600); err != nil {
		s.t.Fatal(err)
	}
	built := exec.CommandContext(s.t.Context(), path, "-shared", "-fPIC", "-O1", "-o", library, source)
	if output, err := built.CombinedOutput(); err != nil {
		s.t.Fatalf("build the clock with %s: %v; set CC to a working C compiler\n%s", path, err, output)
	}
	s.variables = append(s.variables, "LD_PRELOAD="+library, "PENSTOCK_CLOCK="+c.file)
	return c
}

// processClock is the clock of a process that preloads testdata/clock.c.
type processClock struct {
	file string
	off  time.Duration
}

func (c *processClock) step(t *testing.T, by time.Duration) {
	t.Helper()
	c.off += by
	file, err := os.OpenFile(c.file, os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	if _, err := file.WriteAt(binary.NativeEndian.AppendUint64(nil, uint64(c.off.Microseconds())), 0); err != nil {
		t.Fatal(err)
	}
}

// scriptClock is a clock that scripts see which go through a tap.
type scriptClock struct {
	// off is in microseconds.
	off atomic.Int64
	mu  sync.Mutex
	// texts are the scripts by name.
	texts map[string]string
}

func (c *scriptClock) step(_ *testing.T, by time.Duration) { c.off.Add(by.Microseconds()) }

// shiftedTime goes before a script's text.
const shiftedTime = `
local server = redis
local redis = setmetatable({call = function(name, ...)
  local reply = server.call(name, ...)
  if name == 'TIME' then
    local micros = reply[1] * 1000000 + reply[2] + (%d)
    reply = {string.format('%%.0f', math.floor(micros / 1000000)), string.format('%%.0f', micros %% 1000000)}
  end
  return reply
end}, {__index = server})
`

// rewrite lets no script reach the store under its own name: it is unknown there,
// and so its text is sent.
func (c *scriptClock) rewrite(words []string) []string {
	c.mu.Lock()
	defer c.mu.Unlock()
	text := words[1]
	if strings.EqualFold(words[0], "EVAL") {
		sum := sha1.Sum([]byte(text))
		c.texts[hex.EncodeToString(sum[:])] = text
	} else if text = c.texts[words[1]]; text == "" {
		return words
	}
	return append([]string{"EVAL", fmt.Sprintf(shiftedTime, c.off.Load()) + text}, words[2:]...)
}
