// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package controlplane

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/penstock-dev/penstock/api/v1alpha1"
)

func TestProgramsThatAreMissingFailWithTheCommandThatBuildsThem(t *testing.T) {
	empty := t.TempDir()
	t.Setenv("KUBEBUILDER_ASSETS", empty)
	if _, err := Launch(Options{}); err == nil || !strings.Contains(err.Error(), "run: make controlplane") {
		t.Errorf("Launch without programs: got %v, want an error that says: run: make controlplane", err)
	}
	if err := os.WriteFile(filepath.Join(empty, programAPIServer), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := findPrograms(empty); err == nil || !strings.Contains(err.Error(), "is not a program; run: make controlplane") {
		t.Errorf("a file that cannot be run: got %v, want an error that says so", err)
	}
}

func TestStartServesThePenstockKinds(t *testing.T) {
	c := Start(t, Options{})
	namespace := c.Namespace(t, map[string]string{v1alpha1.LabelInjection: "enabled"})
	output, err := c.Kubectl(t, "get", "namespace", namespace, "--show-labels", "--no-headers")
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(output, v1alpha1.LabelInjection+"=enabled") {
		t.Errorf("kubectl get namespace: got %q, want its label", output)
	}
	if err := c.Client.List(t.Context(), &v1alpha1.RateLimitPolicyList{}); err != nil {
		t.Errorf("list policies: %v", err)
	}
}
