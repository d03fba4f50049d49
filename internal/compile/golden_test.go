// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package compile

import (
	"bytes"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/yaml"

	"github.com/penstock-dev/penstock/api/v1alpha1"
)

var update = flag.Bool("update", false, "write what is compiled into testdata/*.out.yaml")

// goldenInput is a file testdata/*.in.yaml.
type goldenInput struct {
	// Before are policies that were published before.
	Before   []*v1alpha1.RateLimitPolicy `json:"before"`
	Targets  []goldenTarget              `json:"targets"`
	Policies []*v1alpha1.RateLimitPolicy `json:"policies"`
}

type goldenTarget struct {
	Group       string               `json:"group"`
	Kind        string               `json:"kind"`
	Name        string               `json:"name"`
	SectionName string               `json:"sectionName"`
	Selector    metav1.LabelSelector `json:"selector"`
	Ports       []int32              `json:"ports"`
}

func TestGolden(t *testing.T) {
	t.Parallel()
	inputs, err := filepath.Glob("testdata/*.in.yaml")
	if err != nil || len(inputs) == 0 {
		t.Fatalf("no testdata/*.in.yaml: %v", err)
	}
	claimed := make(map[string]bool)
	for _, input := range inputs {
		output := strings.TrimSuffix(input, ".in.yaml") + ".out.yaml"
		claimed[output] = true
		t.Run(filepath.Base(input), func(t *testing.T) {
			t.Parallel()
			out := compileGolden(t, input)
			got, err := yaml.Marshal(out)
			if err != nil {
				t.Fatal(err)
			}
			if *update {
				if err := os.WriteFile(output, got, 0o644); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(output)
			if err != nil {
				t.Fatalf("read what is wanted (write it with -update): %v", err)
			}
			if !bytes.Equal(want, got) {
				t.Errorf("%s (-want +got; -update writes it):\n%s", output, cmp.Diff(string(want), string(got)))
			}
		})
	}
	outputs, err := filepath.Glob("testdata/*.out.yaml")
	if err != nil {
		t.Fatal(err)
	}
	for _, output := range outputs {
		if !claimed[output] {
			t.Errorf("no input makes %s: delete it", output)
		}
	}
}

func compileGolden(t *testing.T, file string) Output {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var golden goldenInput
	if err := yaml.UnmarshalStrict(text, &golden); err != nil {
		t.Fatalf("read %s: %v", file, err)
	}
	in := Input{Namespace: "shop", IdentityKey: []byte("key"), Store: "default", Targets: make(map[Target]Resolved)}
	for _, target := range golden.Targets {
		named := Target{Group: target.Group, Kind: target.Kind, Name: target.Name, SectionName: target.SectionName}
		in.Targets[named] = Resolved{Selector: Selector(&target.Selector), Ports: target.Ports}
	}
	if golden.Before != nil {
		in.Policies = golden.Before
		in.Previous = Namespace(in).RuleSet
	}
	in.Policies = golden.Policies
	out := Namespace(in)
	again := in
	again.Previous = out.RuleSet
	if diff := cmp.Diff(out.RuleSet, Namespace(again).RuleSet); diff != "" {
		t.Errorf("compiled again after itself (-first +second):\n%s", diff)
	}
	return out
}
