// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package programs

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// module makes a repository with one tool module whose program prints a variable.
func module(t *testing.T, source string) (root string, p Program) {
	t.Helper()
	root = t.TempDir()
	p = Program{Name: "hello", Dir: "hack/hello", Package: "example.com/hello", LDFlags: "-X main.version=one"}
	files := map[string]string{"go.mod": "module example.com/hello\n\ngo 1.26.0\n", "go.sum": "", "main.go": source}
	if err := os.MkdirAll(filepath.Join(root, p.Dir), 0o755); err != nil {
		t.Fatal(err)
	}
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(root, p.Dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return root, p
}

const printVersion = "package main\n\nvar version string\n\nfunc main() { print(version) }\n"

func TestBuildOnlyWhatIsNotCurrent(t *testing.T) {
	t.Parallel()
	root, p := module(t, printVersion)
	dir := filepath.Join(root, "bin")
	steps := []struct {
		name      string
		change    func()
		wantBuilt bool
		want      string
	}{
		{"nothing is there", func() {}, true, "one"},
		{"all is current", func() {}, false, "one"},
		{"other flags", func() { p.LDFlags = "-X main.version=two" }, true, "two"},
		{"the binary is gone", func() { os.Remove(filepath.Join(dir, p.Name)) }, true, "two"},
		{"a pin changed", func() {
			if err := os.WriteFile(filepath.Join(root, p.Dir, "go.sum"), []byte("\n"), 0o644); err != nil {
				t.Fatal(err)
			}
		}, true, "two"},
	}
	for _, step := range steps {
		step.change()
		var out bytes.Buffer
		if err := Build(t.Context(), root, dir, []Program{p}, &out); err != nil {
			t.Fatalf("%s: %v", step.name, err)
		}
		if built := strings.Contains(out.String(), "[1/1] hello built in"); built != step.wantBuilt {
			t.Errorf("%s: built = %t, want %t; output:\n%s", step.name, built, step.wantBuilt, &out)
		}
		got, err := exec.CommandContext(t.Context(), filepath.Join(dir, p.Name)).CombinedOutput()
		if err != nil || string(got) != step.want {
			t.Errorf("%s: the program prints %q (%v), want %q", step.name, got, err, step.want)
		}
	}
}

func TestBuildShowsWhyItFailed(t *testing.T) {
	t.Parallel()
	root, p := module(t, "package main\n\nfunc main() { undefined() }\n")
	dir := filepath.Join(root, "bin")
	err := Build(t.Context(), root, dir, []Program{p}, &bytes.Buffer{})
	if err == nil || !strings.Contains(err.Error(), "undefined: undefined") {
		t.Fatalf("Build() = %v, want the compiler's reason", err)
	}
	if left, err := filepath.Glob(filepath.Join(dir, "*hello*")); err != nil || len(left) > 0 {
		t.Errorf("a failed build left %q (%v)", left, err)
	}
}

func TestKubernetesVersionComesFromThePins(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		goMod, want string
		wantErr     bool
	}{
		"block": {
			goMod: "require (\n\tk8s.io/kubernetes v1.37.2 // indirect\n)\n",
			want:  "-s -w -X k8s.io/component-base/version.gitVersion=v1.37.2 -X k8s.io/component-base/version.gitMajor=1 -X k8s.io/component-base/version.gitMinor=37",
		},
		"line": {
			goMod: "require k8s.io/kubernetes v1.38.0\n",
			want:  "-s -w -X k8s.io/component-base/version.gitVersion=v1.38.0 -X k8s.io/component-base/version.gitMajor=1 -X k8s.io/component-base/version.gitMinor=38",
		},
		"none": {goMod: "tool k8s.io/kubernetes/cmd/kubectl\n", wantErr: true},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, err := ldflagsFor("go.mod", tc.goMod)
			if got != tc.want || (err != nil) != tc.wantErr {
				t.Errorf("ldflagsFor() = %q, %v, want %q, error: %t", got, err, tc.want, tc.wantErr)
			}
		})
	}
}

// Each program of the tables is a tool of the module that is said to pin it.
func TestTablesNamePinnedTools(t *testing.T) {
	t.Parallel()
	const root = "../../.."
	controlPlane, err := ControlPlane(root)
	if err != nil {
		t.Fatal(err)
	}
	node, err := Node(root)
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range append(controlPlane, node...) {
		goMod, err := os.ReadFile(filepath.Join(root, p.Dir, "go.mod"))
		if err != nil {
			t.Error(err)
			continue
		}
		pinned := false
		for line := range strings.Lines(string(goMod)) {
			pinned = pinned || strings.TrimPrefix(strings.TrimSpace(line), "tool ") == p.Package
		}
		if !pinned {
			t.Errorf("%s: %s is no tool of %s", p.Name, p.Package, p.Dir)
		}
	}
}
