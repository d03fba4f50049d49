// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package programs

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// stampDir keeps one file per binary, beside the binaries. The binary itself does
// not tell: -trimpath leaves the linker flags out of its build information.
const stampDir = ".built"

// stamp identifies everything that decides what a program's binary is: the pinned
// modules, the arguments of the build and the compiler.
func (p Program) stamp(root, compiler string) (string, error) {
	h := sha256.New()
	fmt.Fprintln(h, compiler, strings.Join(p.arguments("-"), " "), p.CGO)
	for _, name := range []string{"go.mod", "go.sum"} {
		text, err := os.ReadFile(filepath.Join(root, p.Dir, name))
		if err != nil {
			return "", fmt.Errorf("read the pins of %s: %w", p.Name, err)
		}
		h.Write(text)
	}
	return hex.EncodeToString(h.Sum(nil)), nil
}

// current reports whether the binary of p in dir was built with this stamp.
func (p Program) current(dir, stamp string) bool {
	if info, err := os.Stat(filepath.Join(dir, p.Name)); err != nil || !info.Mode().IsRegular() {
		return false
	}
	text, err := os.ReadFile(filepath.Join(dir, stampDir, p.Name))
	return err == nil && string(text) == stamp
}

func (p Program) record(dir, stamp string) error {
	if err := os.MkdirAll(filepath.Join(dir, stampDir), 0o755); err != nil {
		return fmt.Errorf("record the build of %s: %w", p.Name, err)
	}
	if err := os.WriteFile(filepath.Join(dir, stampDir, p.Name), []byte(stamp), 0o644); err != nil {
		return fmt.Errorf("record the build of %s: %w", p.Name, err)
	}
	return nil
}
