// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package controlplane

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Namespace makes a namespace of its own for a test, with these labels. It stays
// when the test ends: nothing in a bare control plane empties namespaces.
func (c *ControlPlane) Namespace(tb testing.TB, labels map[string]string) string {
	tb.Helper()
	namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{GenerateName: "test-", Labels: labels}}
	if err := c.Client.Create(tb.Context(), namespace); err != nil {
		tb.Fatalf("make a namespace: %v", err)
	}
	return namespace.Name
}

// Kubeconfig writes a file that connects as an administrator, and returns its
// path. It is gone when the test ends.
func (c *ControlPlane) Kubeconfig(tb testing.TB) string {
	tb.Helper()
	path := filepath.Join(tb.TempDir(), "kubeconfig")
	if err := os.WriteFile(path, c.kubeconfig, 0o600); err != nil {
		tb.Fatalf("write a kubeconfig: %v", err)
	}
	return path
}

// Kubectl runs kubectl as an administrator and returns its standard output. The
// error holds what it wrote to standard error.
func (c *ControlPlane) Kubectl(tb testing.TB, arguments ...string) (string, error) {
	tb.Helper()
	command := exec.CommandContext(tb.Context(), filepath.Join(c.programs, programKubectl), arguments...)
	// The home folder is the test's own: kubectl keeps a cache of schemas there.
	command.Env = append(os.Environ(), "KUBECONFIG="+c.Kubeconfig(tb), "HOME="+tb.TempDir())
	var stderr bytes.Buffer
	command.Stderr = &stderr
	output, err := command.Output()
	if err != nil {
		return string(output), fmt.Errorf("kubectl %v: %w: %s", arguments, err, stderr.String())
	}
	return string(output), nil
}
