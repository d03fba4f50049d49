// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package api

import (
	"os"
	"path/filepath"
	"regexp"
	"testing"

	"github.com/penstock-dev/penstock/test/controlplane"
)

func TestReferenceNamesEachFieldAndChoice(t *testing.T) {
	t.Parallel()
	root, err := controlplane.Root()
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(filepath.Join(root, "docs", "api.md"))
	if err != nil {
		t.Fatalf("read the reference: %v", err)
	}
	named := func(word string) bool {
		return regexp.MustCompile(`\b` + regexp.QuoteMeta(word) + `\b`).Match(text)
	}
	for kind := range definitions(t) {
		walk("spec", specOf(t, kind), func(path string, node schema) {
			for name := range node.Properties {
				if !named(name) {
					t.Errorf("%s %s.%s: docs/api.md does not name it", kind, path, name)
				}
			}
			for _, value := range node.Enum {
				if word := string(value.Raw[1 : len(value.Raw)-1]); word != "" && !named(word) {
					t.Errorf("%s %s: docs/api.md does not name the choice %s", kind, path, word)
				}
			}
		})
	}
}
