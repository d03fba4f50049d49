// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package redistest

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"regexp"
	"strconv"
	"sync"
	"testing"
)

// oldestMajor is the oldest major version of Redis that Penstock supports.
const oldestMajor = 7

const howToInstall = "install it (Debian: apt-get install redis-server) or set REDIS_SERVER to the program"

var versionPattern = regexp.MustCompile(`\bv=(\d+)\.`)

// findProgram looks the program up once per test binary.
var findProgram = sync.OnceValues(func() (string, error) {
	name := os.Getenv("REDIS_SERVER")
	if name == "" {
		name = "redis-server"
	}
	path, err := exec.LookPath(name)
	if err != nil {
		return "", fmt.Errorf("find redis-server: %w; %s", err, howToInstall)
	}
	output, err := exec.CommandContext(context.Background(), path, "--version").Output()
	if err != nil {
		return "", fmt.Errorf("ask %s for its version: %w; %s", path, err, howToInstall)
	}
	return path, checkVersion(path, string(output))
})

func checkVersion(path, output string) error {
	found := versionPattern.FindStringSubmatch(output)
	if found == nil {
		return fmt.Errorf("read the version of %s: %q names none; %s", path, output, howToInstall)
	}
	major, err := strconv.Atoi(found[1])
	if err != nil {
		return fmt.Errorf("read the version of %s: %w", path, err)
	}
	if major < oldestMajor {
		return errors.New(path + " is Redis " + found[1] + ", tests need version 7 or newer; " + howToInstall)
	}
	return nil
}

// program returns the path of redis-server, or fails the test.
func program(tb testing.TB) string {
	tb.Helper()
	path, err := findProgram()
	if err != nil {
		tb.Fatal(err)
	}
	return path
}
