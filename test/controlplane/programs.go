// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package controlplane

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// Names of the programs of a control plane.
const (
	programAPIServer = "kube-apiserver"
	programEtcd      = "etcd"
	programKubectl   = "kubectl"
)

const howToBuild = "run: make controlplane"

// Root is the folder of the repository: the nearest one, from the working folder
// upwards, that holds go.mod.
func Root() (string, error) {
	start, err := os.Getwd()
	if err != nil {
		return "", fmt.Errorf("find the repository's folder: %w", err)
	}
	for dir := start; ; dir = filepath.Dir(dir) {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			return dir, nil
		}
		if dir == filepath.Dir(dir) {
			return "", fmt.Errorf("find the repository's folder: no go.mod in %s or above", start)
		}
	}
}

// findPrograms returns the folder with the programs: KUBEBUILDER_ASSETS if it is
// set, else bin/controlplane of the repository.
func findPrograms(root string) (string, error) {
	dir := os.Getenv("KUBEBUILDER_ASSETS")
	if dir == "" {
		dir = filepath.Join(root, "bin", "controlplane")
	}
	for _, name := range []string{programAPIServer, programEtcd, programKubectl} {
		path := filepath.Join(dir, name)
		info, err := os.Stat(path)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			return "", fmt.Errorf("find %s in %s: not there; %s", name, dir, howToBuild)
		case err != nil:
			return "", fmt.Errorf("find %s: %w; %s", path, err, howToBuild)
		case !info.Mode().IsRegular() || info.Mode().Perm()&0o111 == 0:
			return "", fmt.Errorf("find %s: %s is not a program; %s", name, path, howToBuild)
		}
	}
	return dir, nil
}
