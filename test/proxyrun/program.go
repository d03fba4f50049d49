// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package proxyrun

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"
)

// Names of the programs that can be built.
const (
	Sidecar  = "sidecar"
	Penstock = "penstock"
)

// programs are what this test binary has built, in a folder that Main removes.
var programs struct {
	mu     sync.Mutex
	folder string
	built  map[string]func() error
}

// Main runs the tests of a package and removes the programs that were built for them.
// Call it from TestMain.
func Main(m *testing.M) int {
	defer func() {
		programs.mu.Lock()
		defer programs.mu.Unlock()
		// A folder in the way of nothing: an error changes no verdict.
		_ = os.RemoveAll(programs.folder)
		programs.folder = ""
	}()
	return m.Run()
}

// Program is the path of a program of ours, built with the race detector where the
// tests are.
func Program(tb testing.TB, name string) string {
	tb.Helper()
	path, build, err := plan(name)
	if err == nil {
		err = build()
	}
	if err != nil {
		tb.Fatal(err)
	}
	return path
}

// plan returns where a program is, and what builds it once.
func plan(name string) (path string, build func() error, err error) {
	programs.mu.Lock()
	defer programs.mu.Unlock()
	if programs.folder == "" {
		if programs.folder, err = os.MkdirTemp("", "penstock-programs-"); err != nil {
			return "", nil, fmt.Errorf("make a folder for the programs under test: %w", err)
		}
		programs.built = map[string]func() error{}
	}
	path = filepath.Join(programs.folder, name)
	if programs.built[name] == nil {
		programs.built[name] = sync.OnceValue(func() error { return goBuild(path, name) })
	}
	return path, programs.built[name], nil
}

func goBuild(path, name string) error {
	arguments := []string{"build", "-o", path}
	if raceDetector {
		arguments = append(arguments, "-race")
	}
	command := exec.Command("go", append(arguments, "github.com/penstock-dev/penstock/cmd/"+name)...)
	if output, err := command.CombinedOutput(); err != nil {
		return fmt.Errorf("build %s: %w\n%s", name, err, output)
	}
	return nil
}
