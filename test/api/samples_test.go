// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package api

import (
	"maps"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/penstock-dev/penstock/api/v1alpha1"
	"github.com/penstock-dev/penstock/test/controlplane"
)

// samples reads the samples by the names of their files, and what of them the
// kustomization lists.
func samples(tb testing.TB) (folder string, objects map[string]*unstructured.Unstructured, listed []string) {
	tb.Helper()
	root, err := controlplane.Root()
	if err != nil {
		tb.Fatal(err)
	}
	folder = filepath.Join(root, "config", "samples")
	entries, err := os.ReadDir(folder)
	if err != nil {
		tb.Fatalf("list the samples: %v", err)
	}
	objects = map[string]*unstructured.Unstructured{}
	for _, entry := range entries {
		text, err := os.ReadFile(filepath.Join(folder, entry.Name()))
		if err != nil {
			tb.Fatalf("read a sample: %v", err)
		}
		content := map[string]any{}
		mustParse(tb, string(text), &content)
		objects[entry.Name()] = &unstructured.Unstructured{Object: content}
	}
	listed, _, err = unstructured.NestedStringSlice(objects["kustomization.yaml"].Object, "resources")
	if err != nil {
		tb.Fatalf("read the samples' kustomization: %v", err)
	}
	delete(objects, "kustomization.yaml")
	return folder, objects, listed
}

func TestSamplesApply(t *testing.T) {
	t.Parallel()
	folder, objects, _ := samples(t)
	for name := range objects {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if _, err := server.Kubectl(t, "apply", "--dry-run=server", "--validate=strict", "-f", filepath.Join(folder, name)); err != nil {
				t.Error(err)
			}
		})
	}
	if _, err := server.Kubectl(t, "apply", "--dry-run=server", "--validate=strict", "-k", folder); err != nil {
		t.Error(err)
	}
}

// The kustomization holds what is enforced, the folder also what will be.
func TestSamplesOfTheKustomizationAreEnforced(t *testing.T) {
	t.Parallel()
	_, objects, listed := samples(t)
	for _, name := range listed {
		if objects[name] == nil {
			t.Errorf("the kustomization lists %s, which is not there", name)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(objects)) {
		reason, problems := judge(t, objects[name])
		want := v1alpha1.ReasonNotImplemented
		if slices.Contains(listed, name) {
			want = v1alpha1.ReasonAccepted
		}
		if reason != want {
			t.Errorf("%s: got %s, want %s; problems %v", name, reason, want, problems)
		}
	}
}
