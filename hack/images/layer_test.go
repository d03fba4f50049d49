// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"archive/tar"
	"bytes"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"
)

func TestLayerIsOfContentsOnly(t *testing.T) {
	t.Parallel()
	source := filepath.Join(t.TempDir(), "program")
	if err := os.WriteFile(source, []byte("text"), 0o600); err != nil {
		t.Fatal(err)
	}
	files := map[string]string{"/usr/bin/program": source, "/lib/one": source}
	first, err := layerTar(files)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Chtimes(source, time.Unix(1, 0), time.Unix(1, 0)); err != nil {
		t.Fatal(err)
	}
	second, err := layerTar(files)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(first, second) {
		t.Error("the layer depends on when its files were made")
	}
	want := []string{"data/", "lib/", "tmp/", "usr/", "usr/bin/", "lib/one", "usr/bin/program"}
	if got := entries(t, first); !slices.Equal(got, want) {
		t.Errorf("entries %q, want %q", got, want)
	}
}

func entries(t *testing.T, layer []byte) []string {
	t.Helper()
	var names []string
	for r := tar.NewReader(bytes.NewReader(layer)); ; {
		header, err := r.Next()
		if errors.Is(err, io.EOF) {
			return names
		}
		if err != nil {
			t.Fatal(err)
		}
		names = append(names, header.Name)
	}
}

func TestParseLibraries(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		output  string
		want    []string
		wantErr bool
	}{
		"dynamic": {
			output: "\tlinux-vdso.so.1 (0x00007ffd)\n\tlibm.so.6 => /lib/x86_64-linux-gnu/libm.so.6 (0x00007f1e)\n\t/lib64/ld-linux-x86-64.so.2 (0x00007f1f)\n",
			want:   []string{"/lib/x86_64-linux-gnu/libm.so.6", "/lib64/ld-linux-x86-64.so.2"},
		},
		"missing": {output: "\tliblua.so => not found\n", wantErr: true},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, err := parseLibraries(tc.output)
			if !slices.Equal(got, tc.want) || (err != nil) != tc.wantErr {
				t.Errorf("parseLibraries() = %q, %v, want %q, error: %t", got, err, tc.want, tc.wantErr)
			}
		})
	}
}

func TestChosen(t *testing.T) {
	t.Parallel()
	all, err := chosen(nil)
	if err != nil || len(all) != len(images) {
		t.Errorf("chosen() = %d images, %v, want all %d", len(all), err, len(images))
	}
	some, err := chosen([]string{"echo"})
	if err != nil || len(some) != 1 || some[0].reference() != "penstock.local/echo:dev" || some[0].entrypoint() != "/echo" {
		t.Errorf("chosen(echo) = %+v, %v", some, err)
	}
	if _, err := chosen([]string{"nothing"}); err == nil {
		t.Error("chosen(nothing) is no error")
	}
}
