// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

// Package architecture holds the code to the import table in docs/architecture.md.
package architecture

import (
	"encoding/json"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

const module = "github.com/penstock-dev/penstock"

// row is one line of the table: a package and what it may import.
type row struct {
	pkg    string
	ours   []string
	others []string
}

func TestImportsFollowTheTable(t *testing.T) {
	t.Parallel()
	root := repositoryRoot(t)
	table := readTable(t, filepath.Join(root, "docs", "architecture.md"))
	packages := listPackages(t, root)
	if len(table) < 10 || len(packages) < 10 {
		t.Fatalf("found %d rows and %d packages; the table or the listing was not read", len(table), len(packages))
	}
	for _, pkg := range packages {
		path := strings.TrimPrefix(pkg.ImportPath, module+"/")
		rule, ok := rowFor(table, path)
		if !ok {
			t.Errorf("package %s has no row in docs/architecture.md", path)
			continue
		}
		for _, imported := range pkg.Imports {
			if !allowed(rule, path, imported) {
				t.Errorf("package %s imports %s, which docs/architecture.md does not allow", path, imported)
			}
		}
	}
	for _, rule := range table {
		if _, err := os.Stat(filepath.Join(root, rule.pkg)); err != nil {
			t.Errorf("docs/architecture.md lists %s, which does not exist", rule.pkg)
		}
	}
}

func allowed(rule row, path, imported string) bool {
	first, _, _ := strings.Cut(imported, "/")
	if !strings.Contains(first, ".") {
		return true // the standard library
	}
	if ours, ok := strings.CutPrefix(imported, module+"/"); ok {
		return within(ours, []string{path}) || listed(ours, rule.ours)
	}
	return within(imported, rule.others)
}

// listed is stricter than within for our own packages: a listed folder stands
// for itself, and "internal" for everything below it.
func listed(imported string, list []string) bool {
	return slices.Contains(list, imported) || slices.Contains(list, "internal") && strings.HasPrefix(imported, "internal/")
}

func within(imported string, list []string) bool {
	return slices.ContainsFunc(list, func(folder string) bool {
		return imported == folder || strings.HasPrefix(imported, folder+"/")
	})
}

// rowFor returns the row of the longest listed folder that holds the package.
func rowFor(table []row, path string) (row, bool) {
	var best row
	for _, candidate := range table {
		if within(path, []string{candidate.pkg}) && len(candidate.pkg) > len(best.pkg) {
			best = candidate
		}
	}
	return best, best.pkg != ""
}

func readTable(t *testing.T, file string) []row {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var table []row
	for line := range strings.SplitSeq(string(text), "\n") {
		cells := strings.Split(strings.Trim(line, "| "), "|")
		name := strings.Trim(strings.TrimSpace(cells[0]), "`")
		if len(cells) != 4 || name == "package" || strings.HasPrefix(name, "---") {
			continue
		}
		table = append(table, row{pkg: name, ours: split(cells[2]), others: split(cells[3])})
	}
	return table
}

func split(cell string) []string {
	cell = strings.TrimSpace(cell)
	if cell == "–" {
		return nil
	}
	return strings.Split(cell, ", ")
}

type listedPackage struct {
	ImportPath string
	Imports    []string
}

func listPackages(t *testing.T, root string) []listedPackage {
	t.Helper()
	// With the sidecar's profile, names of packages would be followed by whom they are built for.
	command := exec.CommandContext(t.Context(), "go", "list", "-pgo=off", "-json=ImportPath,Imports", "./api/...", "./internal/...", "./controllers/...", "./cmd/...")
	command.Dir = root
	output, err := command.Output()
	if err != nil {
		t.Fatalf("go list: %v", err)
	}
	decoder := json.NewDecoder(strings.NewReader(string(output)))
	var packages []listedPackage
	for {
		var pkg listedPackage
		if err := decoder.Decode(&pkg); errors.Is(err, io.EOF) {
			return packages
		} else if err != nil {
			t.Fatal(err)
		}
		packages = append(packages, pkg)
	}
}

func repositoryRoot(t *testing.T) string {
	t.Helper()
	folder, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	for ; folder != "/"; folder = filepath.Dir(folder) {
		if _, err := os.Stat(filepath.Join(folder, "go.mod")); err == nil {
			return folder
		}
	}
	t.Fatal("no go.mod above the test's folder")
	return ""
}
