// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package programs

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
)

// Program is one third-party program and how it is built.
type Program struct {
	Name    string // file name of the binary
	Dir     string // folder of the tool module that pins it, below the repository's root
	Package string // import path of its main package
	Tags    string // build tags, separated by spaces
	LDFlags string // linker flags
	CGO     bool   // whether it links against C libraries
}

const (
	strip         = "-s -w"
	kubernetesDir = "hack/controlplane/kubernetes"
	containerdDir = "hack/cluster/containerd"

	// The snapshotters that need C libraries or devices which a test node lacks.
	containerdTags = "no_btrfs no_zfs no_devmapper"
)

// ControlPlane returns what an API server for tests and the demo needs:
// kube-apiserver, kubectl and etcd. root is the repository's root.
func ControlPlane(root string) ([]Program, error) {
	ldflags, err := kubernetesLDFlags(root)
	if err != nil {
		return nil, err
	}
	return []Program{
		kubernetes("kube-apiserver", ldflags),
		kubernetes("kubectl", ldflags),
		{Name: "etcd", Dir: "hack/controlplane/etcd", Package: "go.etcd.io/etcd/server/v3", LDFlags: strip},
	}, nil
}

// Node returns what a node needs besides the control plane. root is the
// repository's root.
func Node(root string) ([]Program, error) {
	ldflags, err := kubernetesLDFlags(root)
	if err != nil {
		return nil, err
	}
	return []Program{
		kubernetes("kubelet", ldflags),
		kubernetes("kube-controller-manager", ldflags),
		kubernetes("kube-scheduler", ldflags),
		kubernetes("kube-proxy", ldflags),
		containerd("containerd"),
		containerd("containerd-shim-runc-v2"),
		containerd("ctr"),
		{Name: "runc", Dir: "hack/cluster/runc", Package: "github.com/opencontainers/runc", Tags: "seccomp", LDFlags: strip, CGO: true},
		{Name: "coredns", Dir: "hack/cluster/coredns", Package: "github.com/coredns/coredns", LDFlags: strip},
	}, nil
}

func kubernetes(name, ldflags string) Program {
	return Program{Name: name, Dir: kubernetesDir, Package: "k8s.io/kubernetes/cmd/" + name, LDFlags: ldflags}
}

func containerd(name string) Program {
	return Program{
		Name: name, Dir: containerdDir, Package: "github.com/containerd/containerd/v2/cmd/" + name,
		Tags: containerdTags, LDFlags: strip,
	}
}

// kubernetesLDFlags stamps the version that the tool module pins: unstamped
// programs call themselves v0.0.0, which clients and the kubelet's skew check refuse.
func kubernetesLDFlags(root string) (string, error) {
	path := filepath.Join(root, kubernetesDir, "go.mod")
	text, err := os.ReadFile(path)
	if err != nil {
		return "", fmt.Errorf("read the pinned Kubernetes version: %w (run this from the repository's root)", err)
	}
	return ldflagsFor(path, string(text))
}

var pinnedKubernetes = regexp.MustCompile(`(?m)^\s*(?:require )?k8s\.io/kubernetes (v(\d+)\.(\d+)\.\d+\S*)`)

func ldflagsFor(path, goMod string) (string, error) {
	m := pinnedKubernetes.FindStringSubmatch(goMod)
	if m == nil {
		return "", fmt.Errorf("%s requires no k8s.io/kubernetes: restore it from git", path)
	}
	const variable = " -X k8s.io/component-base/version."
	return strip + variable + "gitVersion=" + m[1] + variable + "gitMajor=" + m[2] + variable + "gitMinor=" + m[3], nil
}
