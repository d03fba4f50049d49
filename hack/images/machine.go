// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// machineProgram returns a program of this machine and the shared libraries that ldd
// names, each at the path where the loader looks for it.
func machineProgram(ctx context.Context, i image) (map[string]string, error) {
	program, err := filepath.EvalSymlinks(i.Machine)
	if err != nil {
		return nil, fmt.Errorf("find %s: %w (apt-get install --yes %s)", i.Machine, err, i.Debian)
	}
	cmd := exec.CommandContext(ctx, "ldd", program)
	cmd.Env = append(os.Environ(), "LC_ALL=C")
	output, err := cmd.CombinedOutput()
	if err != nil {
		return nil, fmt.Errorf("ldd %s: %w: %s", program, err, output)
	}
	libraries, err := parseLibraries(string(output))
	if err != nil {
		return nil, fmt.Errorf("libraries of %s: %w", program, err)
	}
	files := map[string]string{i.Machine: program}
	for _, library := range libraries {
		files[library] = library
	}
	return files, nil
}

// parseLibraries reads what ldd prints: "name => path (address)" for a library,
// "path (address)" for the loader, "name (address)" for what the kernel provides.
func parseLibraries(output string) ([]string, error) {
	var libraries []string
	for line := range strings.Lines(output) {
		if strings.Contains(line, "not found") {
			return nil, fmt.Errorf("missing: %s", strings.TrimSpace(line))
		}
		for field := range strings.FieldsSeq(line) {
			if strings.HasPrefix(field, "/") {
				libraries = append(libraries, field)
			}
		}
	}
	return libraries, nil
}
