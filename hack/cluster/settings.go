// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import "path/filepath"

// The node's fixed places. They are the same for every checkout, because the
// network namespace is, too: so any later run finds what an earlier one left.
const (
	stateDir  = "/var/lib/penstock-cluster" // everything the node writes; short, since Unix socket paths end at 107 bytes
	namespace = "penstock"                  // network namespace, and with it the node's whole network
	cgroup    = "penstock-cluster"          // parent of every pod's cgroup
	nodeName  = "node1"
)

// Addresses of carrier-grade NAT and unique-local space: they meet no network that
// the machine is attached to, and the namespace has no way out anyway.
const (
	nodeIPv4     = "100.64.0.1"
	nodeIPv6     = "fd00:64::1"
	serviceIPv4  = "100.65.0.0/16"
	serviceIPv6  = "fd00:65::/112"
	podIPv4      = "100.66.0.0/24"
	podIPv6      = "fd00:66::/64"
	apiServerURL = "https://" + nodeIPv4 + ":6443"
)

// pauseImage holds a pod's namespaces; pauseArchive is where make images puts it.
const (
	pauseImage   = "penstock.local/pause:dev"
	pauseArchive = "pause.tar"
)

// checkout is the working tree whose programs and images a node uses.
type checkout struct {
	Root string // absolute
}

func (c checkout) bin() string          { return filepath.Join(c.Root, "bin/cluster") }
func (c checkout) controlPlane() string { return filepath.Join(c.Root, "bin/controlplane") }
func (c checkout) images() string       { return filepath.Join(c.Root, "bin/images") }

// program returns the path of a built program.
func (c checkout) program(name string) string {
	switch name {
	case "kube-apiserver", "etcd", "kubectl":
		return filepath.Join(c.controlPlane(), name)
	}
	return filepath.Join(c.bin(), name)
}

// in returns a path inside the state folder.
func in(elements ...string) string {
	return filepath.Join(append([]string{stateDir}, elements...)...)
}

func containerdSocket() string { return in("containerd.sock") }
func kubeconfig() string       { return in("kubeconfig") }
func logFile(name string) string {
	return in("log", name+".log")
}
