// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"archive/tar"
	"bytes"
	"fmt"
	"io"
	"maps"
	"os"
	"path"
	"slices"
	"strings"
	"time"
)

// scratch are the folders that every image has writable: programs expect /tmp, and
// redis-server starts in /data.
var scratch = []string{"data", "tmp"}

// layerTar packs files, given as path in the image → path on this machine. Times and
// owners are left out so that equal contents give equal layers.
func layerTar(files map[string]string) ([]byte, error) {
	var text bytes.Buffer
	w := tar.NewWriter(&text)
	for _, dir := range folders(files) {
		header := &tar.Header{Typeflag: tar.TypeDir, Name: dir + "/", Mode: 0o755, ModTime: time.Unix(0, 0)}
		if slices.Contains(scratch, dir) {
			header.Mode = 0o1777
		}
		if err := w.WriteHeader(header); err != nil {
			return nil, fmt.Errorf("pack the folder %s: %w", dir, err)
		}
	}
	for _, target := range slices.Sorted(maps.Keys(files)) {
		if err := pack(w, strings.TrimPrefix(target, "/"), files[target]); err != nil {
			return nil, err
		}
	}
	if err := w.Close(); err != nil {
		return nil, fmt.Errorf("finish the layer: %w", err)
	}
	return text.Bytes(), nil
}

func pack(w *tar.Writer, target, source string) error {
	body, err := os.ReadFile(source)
	if err != nil {
		return fmt.Errorf("read a file of the image: %w", err)
	}
	header := &tar.Header{Typeflag: tar.TypeReg, Name: target, Mode: 0o755, Size: int64(len(body)), ModTime: time.Unix(0, 0)}
	if err := w.WriteHeader(header); err != nil {
		return fmt.Errorf("pack %s: %w", target, err)
	}
	if _, err := w.Write(body); err != nil {
		return fmt.Errorf("pack %s: %w", target, err)
	}
	return nil
}

// folders returns the folders that the files need, parents first, and the scratch folders.
func folders(files map[string]string) []string {
	all := slices.Clone(scratch)
	for target := range files {
		for dir := path.Dir(strings.TrimPrefix(target, "/")); dir != "."; dir = path.Dir(dir) {
			all = append(all, dir)
		}
	}
	slices.Sort(all)
	return slices.Compact(all)
}

func opener(text []byte) func() (io.ReadCloser, error) {
	return func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(text)), nil }
}
