// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"encoding/json"
	"io/fs"
	"strings"
	"testing"
)

// maxSocketPath is sun_path of unix(7) without its closing zero byte.
const maxSocketPath = 107

func TestEveryTemplateIsUsedAndFills(t *testing.T) {
	t.Parallel()
	files, err := fs.ReadDir(templates, "templates")
	if err != nil {
		t.Fatal(err)
	}
	if len(files) != len(configurationFiles) {
		t.Errorf("%d templates, %d in use", len(files), len(configurationFiles))
	}
	for name := range configurationFiles {
		text, err := render(name, values{State: "/state"})
		if err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if !strings.Contains(text, "/state") || strings.Contains(text, "{{") {
			t.Errorf("%s is not filled:\n%s", name, text)
		}
		if strings.HasSuffix(name, ".json") && !json.Valid([]byte(text)) {
			t.Errorf("%s is no JSON:\n%s", name, text)
		}
	}
}

func TestSocketPathsFit(t *testing.T) {
	t.Parallel()
	if path := containerdSocket() + ".ttrpc"; len(path) > maxSocketPath {
		t.Errorf("%s has %d bytes, the most is %d", path, len(path), maxSocketPath)
	}
}

func TestCheckMachine(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		system string
		user   int
		want   string
	}{
		"root on Linux": {"linux", 0, ""},
		"another user":  {"linux", 1000, "needs root"},
		"another OS":    {"darwin", 0, "not on darwin"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			err := checkMachine(tc.system, tc.user)
			if tc.want == "" && err != nil {
				t.Errorf("checkMachine() = %v, want none", err)
			}
			if tc.want != "" && (err == nil || !strings.Contains(err.Error(), tc.want)) {
				t.Errorf("checkMachine() = %v, want %q", err, tc.want)
			}
		})
	}
}
