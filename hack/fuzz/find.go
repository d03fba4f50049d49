// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
)

// target is one fuzz function in a built test binary.
type target struct {
	name, pkg string
	// binary is the instrumented test binary, and folder where it has to run.
	binary, folder string
}

// listed is a package as `go list` prints it.
type listed struct {
	Dir, ImportPath           string
	TestGoFiles, XTestGoFiles []string
}

var declaration = regexp.MustCompile(`(?m)^func Fuzz\w*\(`)

// find builds the packages that have fuzz functions and asks each binary for them.
func find(ctx context.Context, scratch string, wanted *regexp.Regexp) ([]target, error) {
	packages, err := list(ctx)
	if err != nil {
		return nil, err
	}
	var found []target
	for number, pkg := range packages {
		fuzzes, err := pkg.fuzzes()
		if err != nil {
			return nil, err
		}
		if !fuzzes {
			continue
		}
		binary := filepath.Join(scratch, strconv.Itoa(number)+".test")
		if output, err := exec.CommandContext(ctx, "go", "test", "-c", "-fuzz=.", "-o", binary, pkg.ImportPath).CombinedOutput(); err != nil {
			return nil, fmt.Errorf("build the tests of %s: %w\n%s", pkg.ImportPath, err, output)
		}
		names, err := ask(ctx, binary, pkg.Dir)
		if err != nil {
			return nil, err
		}
		for _, name := range names {
			if wanted.MatchString(name) {
				found = append(found, target{name: name, pkg: pkg.ImportPath, binary: binary, folder: pkg.Dir})
			}
		}
	}
	return found, nil
}

func list(ctx context.Context) ([]listed, error) {
	output, err := exec.CommandContext(ctx, "go", "list", "-json=Dir,ImportPath,TestGoFiles,XTestGoFiles", "./...").Output()
	if err != nil {
		return nil, fmt.Errorf("list the packages: %w", err)
	}
	var packages []listed
	for decoder := json.NewDecoder(bytes.NewReader(output)); ; {
		var pkg listed
		if err := decoder.Decode(&pkg); errors.Is(err, io.EOF) {
			return packages, nil
		} else if err != nil {
			return nil, fmt.Errorf("read the list of packages: %w", err)
		}
		packages = append(packages, pkg)
	}
}

// fuzzes reports whether a package seems to have fuzz functions: building them all to
// ask would take minutes.
func (l listed) fuzzes() (bool, error) {
	for _, file := range append(l.TestGoFiles, l.XTestGoFiles...) {
		text, err := os.ReadFile(filepath.Join(l.Dir, file))
		if err != nil {
			return false, err
		}
		if declaration.Match(text) {
			return true, nil
		}
	}
	return false, nil
}

// ask lists the fuzz functions of a test binary.
func ask(ctx context.Context, binary, folder string) ([]string, error) {
	command := exec.CommandContext(ctx, binary, "-test.list=^Fuzz")
	command.Dir = folder
	output, err := command.Output()
	if err != nil {
		return nil, fmt.Errorf("ask %s for its fuzz functions: %w", folder, err)
	}
	var names []string
	for lines := bufio.NewScanner(bytes.NewReader(output)); lines.Scan(); {
		if name := strings.TrimSpace(lines.Text()); strings.HasPrefix(name, "Fuzz") {
			names = append(names, name)
		}
	}
	return names, nil
}
