// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"os/exec"
	"strings"
	"testing"
)

// TestSidecarLinksNoKubernetes keeps what runs in every pod small: its size is
// everybody's bill.
func TestSidecarLinksNoKubernetes(t *testing.T) {
	t.Parallel()
	output, err := exec.CommandContext(t.Context(), "go", "list", "-deps", ".").Output()
	if err != nil {
		t.Fatalf("go list -deps: %v", err)
	}
	dependencies := strings.Fields(string(output))
	if len(dependencies) < 100 {
		t.Fatalf("go list -deps names %d packages only", len(dependencies))
	}
	for _, dependency := range dependencies {
		for _, forbidden := range []string{
			"k8s.io/", "sigs.k8s.io/", "google.golang.org/grpc",
			"github.com/penstock-dev/penstock/api", "github.com/penstock-dev/penstock/controllers", "github.com/alicebob/miniredis",
		} {
			if strings.HasPrefix(dependency, forbidden) {
				t.Errorf("the sidecar links %s", dependency)
			}
		}
	}
}
