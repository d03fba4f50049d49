// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package inject

import (
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	jsonpatch "github.com/evanphx/json-patch/v5"
	"github.com/google/go-cmp/cmp"
	"sigs.k8s.io/yaml"

	"github.com/penstock-dev/penstock/api/v1alpha1"
)

var update = flag.Bool("update", false, "write the golden files anew")

// golden is a file testdata/*.in.yaml.
type golden struct {
	// Options differ from those of the other cases.
	OutdatedKubernetes  string `json:"outdatedKubernetes,omitempty"`
	CPULimitRequired    bool   `json:"cpuLimitRequired,omitempty"`
	MemoryLimitRequired bool   `json:"memoryLimitRequired,omitempty"`
	// Restricted is whether the pod meets Pod Security "restricted", before and
	// after injection.
	Restricted bool `json:"restricted,omitempty"`
	// Pod is raw: fields that no type of ours knows must survive.
	Pod json.RawMessage `json:"pod"`
}

// outcome is a file testdata/*.out.yaml.
type outcome struct {
	Report v1alpha1.PodInjection `json:"report"`
	Pod    json.RawMessage       `json:"pod"`
}

func (g golden) inject(t *testing.T, pod []byte) Result {
	t.Helper()
	result, err := Pod(pod, Namespace{CPULimitRequired: g.CPULimitRequired, MemoryLimitRequired: g.MemoryLimitRequired}, Options{
		Image:              "sidecar.test/sidecar:v1",
		Version:            "v1",
		OutdatedKubernetes: g.OutdatedKubernetes,
	})
	if err != nil {
		t.Fatalf("inject: %v", err)
	}
	return result
}

func goldens(t *testing.T) map[string]golden {
	t.Helper()
	paths, err := filepath.Glob("testdata/*.in.yaml")
	if err != nil || len(paths) == 0 {
		t.Fatalf("find testdata/*.in.yaml: %d files, %v", len(paths), err)
	}
	cases := map[string]golden{}
	for _, path := range paths {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		var g golden
		if err := yaml.UnmarshalStrict(text, &g); err != nil {
			t.Fatalf("%s: %v", path, err)
		}
		cases[strings.TrimSuffix(filepath.Base(path), ".in.yaml")] = g
	}
	return cases
}

func TestPodGolden(t *testing.T) {
	t.Parallel()
	for name, g := range goldens(t) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			result := g.inject(t, g.Pod)
			patched := apply(t, result.Patch, g.Pod)
			got, err := yaml.Marshal(outcome{Report: result.Report, Pod: patched})
			if err != nil {
				t.Fatal(err)
			}
			path := filepath.Join("testdata", name+".out.yaml")
			if *update {
				if err := os.WriteFile(path, got, 0o644); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(path)
			if err != nil {
				t.Fatalf("read the wanted outcome (write it with -update): %v", err)
			}
			if diff := cmp.Diff(string(want), string(got)); diff != "" {
				t.Errorf("%s (-want +got):\n%s", path, diff)
			}
		})
	}
}

func TestEveryGoldenHasACase(t *testing.T) {
	t.Parallel()
	cases := goldens(t)
	outcomes, err := filepath.Glob("testdata/*.out.yaml")
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range outcomes {
		name := strings.TrimSuffix(filepath.Base(path), ".out.yaml")
		if _, found := cases[name]; !found {
			t.Errorf("%s belongs to no case: delete it, or write %s.in.yaml", path, name)
		}
	}
}

func TestInjectionIsIdempotent(t *testing.T) {
	t.Parallel()
	for name, g := range goldens(t) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			first := g.inject(t, g.Pod)
			again := g.inject(t, apply(t, first.Patch, g.Pod))
			if len(again.Patch) != 0 {
				t.Errorf("the injector changes its own outcome: %v", again.Patch)
			}
			if first.Report.Injected && again.Report.Reason != ReasonAlreadyInjected {
				t.Errorf("reason for an injected pod = %q, want %q", again.Report.Reason, ReasonAlreadyInjected)
			}
		})
	}
}

// TestUnknownFieldsSurvive holds every value of the pod, known to our types or not,
// to be in the outcome, but for the few that injection is meant to change.
func TestUnknownFieldsSurvive(t *testing.T) {
	t.Parallel()
	g := goldens(t)["unknown-fields"]
	patched := string(apply(t, g.inject(t, g.Pod).Patch, g.Pod))
	for _, want := range []string{
		`"fieldOfTheFuture":{"deep":[1,2.5,{"x":null}]}`,
		`"portFieldOfTheFuture":"kept"`,
		`"probeFieldOfTheFuture":12345678901234567890`,
		`"initFieldOfTheFuture":true`,
		`"volumeFieldOfTheFuture":{}`,
	} {
		if !strings.Contains(patched, want) {
			t.Errorf("the patched pod lacks %s:\n%s", want, patched)
		}
	}
}

func apply(t *testing.T, operations []Operation, pod []byte) []byte {
	t.Helper()
	patched, err := tryApply(operations, pod)
	if err != nil {
		t.Fatalf("apply patch: %v", err)
	}
	return patched
}

func tryApply(operations []Operation, pod []byte) ([]byte, error) {
	if operations == nil {
		return slices.Clone(pod), nil
	}
	text, err := json.Marshal(operations)
	if err != nil {
		return nil, err
	}
	decoded, err := jsonpatch.DecodePatch(text)
	if err != nil {
		return nil, err
	}
	return decoded.Apply(pod)
}
