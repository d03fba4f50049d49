// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// What a folder may hold, which may have been named by mistake.
const (
	maxFolderEntries = 100_000
	maxFolderFiles   = 2_000
	maxFolderBytes   = 64 << 20
)

// filesIn are the files in a folder, and in folders within, that may have policies, in order.
// Pipes and devices have no end, and links to folders may lead back.
func filesIn(folder string) ([]string, error) {
	var files []string
	entries, size := 0, int64(0)
	tooMuch := fmt.Errorf("%s has more than %d files, or %d or %d bytes of YAML and JSON: name a folder within", folder, maxFolderEntries, maxFolderFiles, maxFolderBytes)
	err := fs.WalkDir(os.DirFS(folder), ".", func(path string, entry fs.DirEntry, err error) error {
		entries++
		switch {
		case err != nil:
			return err
		case entries > maxFolderEntries:
			return tooMuch
		case entry.IsDir() && path != "." && strings.HasPrefix(entry.Name(), "."):
			return fs.SkipDir
		case !slices.Contains([]string{".yaml", ".yml", ".json"}, filepath.Ext(path)):
			return nil
		}
		name := filepath.Join(folder, path)
		// A link is followed: a ConfigMap is mounted as links.
		if info, err := os.Stat(name); err == nil && info.Mode().IsRegular() {
			files, size = append(files, name), size+info.Size()
		}
		if len(files) > maxFolderFiles || size > maxFolderBytes {
			return tooMuch
		}
		return nil
	})
	if err != nil {
		return nil, unreadable(folder, err)
	}
	return files, nil
}
