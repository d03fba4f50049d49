// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"
)

// needed maps what must be there, a program on PATH or a file, to its Debian package.
var needed = []struct{ What, Package string }{
	{"ip", "iproute2"},
	{"nft", "nftables"},
	{"nsenter", "util-linux"},
	{"mount", "mount"},
	{"/usr/lib/cni/bridge", "containernetworking-plugins"},
	{"gcc", "gcc"},
	{"/usr/include/stdlib.h", "libc6-dev"},
	{"pkg-config", "pkg-config"},
	{"/usr/include/seccomp.h", "libseccomp-dev"},
	{"redis-server", "redis-server"},
}

// installPackages installs what is missing on Debian and its relatives, and says
// what to do elsewhere.
func installPackages(ctx context.Context) error {
	missing := missingPackages()
	if len(missing) == 0 {
		return nil
	}
	line := "apt-get install --yes --no-install-recommends " + strings.Join(missing, " ")
	apt, err := exec.LookPath("apt-get")
	if err != nil {
		return fmt.Errorf("the local cluster needs what the Debian packages %s contain, and there is no apt-get here: install them by hand", strings.Join(missing, ", "))
	}
	fmt.Println("installing Debian packages:", strings.Join(missing, " "))
	// The package lists of a fresh machine are often empty or old.
	for _, args := range [][]string{{"update", "--quiet"}, append([]string{"install", "--yes", "--quiet", "--no-install-recommends"}, missing...)} {
		cmd := exec.CommandContext(ctx, apt, args...)
		cmd.Env = append(os.Environ(), "DEBIAN_FRONTEND=noninteractive")
		if output, err := cmd.CombinedOutput(); err != nil {
			return fmt.Errorf("apt-get %s: %w\n%s\ninstall them by hand: %s", args[0], err, lastLines(string(output), 20), line)
		}
	}
	if still := missingPackages(); len(still) > 0 {
		return fmt.Errorf("still missing after %q: what the packages %s contain", line, strings.Join(still, ", "))
	}
	return nil
}

func missingPackages() []string {
	var missing []string
	for _, n := range needed {
		if !present(n.What) && !slices.Contains(missing, n.Package) {
			missing = append(missing, n.Package)
		}
	}
	return missing
}

func present(what string) bool {
	if strings.HasPrefix(what, "/") {
		_, err := os.Stat(what)
		return err == nil
	}
	_, err := exec.LookPath(what)
	return err == nil
}

// lastLines returns at most n lines of the end of a text.
func lastLines(text string, n int) string {
	lines := strings.Split(strings.TrimSpace(text), "\n")
	return strings.Join(lines[max(0, len(lines)-n):], "\n")
}
