// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"os"
)

// component is one program of the node, in the order in which they start.
type component struct {
	Name string
	Args []string
	// Ready, when set, must succeed before the next component starts.
	Ready func(context.Context) error
}

// components returns the programs of the node in their order: each finds what it
// needs already there, so none has to restart.
func components() []component {
	config := "--kubeconfig=" + kubeconfig()
	return []component{
		{Name: "etcd", Ready: etcdReady, Args: []string{
			"--data-dir=" + in("etcd"),
			"--listen-client-urls=" + etcdURL, "--advertise-client-urls=" + etcdURL,
			"--listen-peer-urls=http://127.0.0.1:2380",
			"--unsafe-no-fsync", // the data dies with the node
			"--log-level=warn",
		}},
		{Name: "kube-apiserver", Ready: apiServerReady, Args: []string{
			"--etcd-servers=" + etcdURL,
			"--bind-address=0.0.0.0", "--secure-port=6443", "--advertise-address=" + nodeIPv4,
			"--cert-dir=" + in("certs"),
			"--token-auth-file=" + in("certs/tokens.csv"),
			"--service-account-key-file=" + in("certs/service-accounts.key"),
			"--service-account-signing-key-file=" + in("certs/service-accounts.key"),
			"--service-account-issuer=https://kubernetes.default.svc",
			"--service-cluster-ip-range=" + serviceIPv4 + "," + serviceIPv6,
			"--authorization-mode=RBAC", "--allow-privileged",
			"--kubelet-preferred-address-types=InternalIP", // logs and exec without DNS
		}},
		{Name: "kube-controller-manager", Args: []string{
			config, "--leader-elect=false",
			"--service-account-private-key-file=" + in("certs/service-accounts.key"),
			"--root-ca-file=" + in("certs/apiserver.crt"),
			"--flex-volume-plugin-dir=" + in("volume-plugins"),
		}},
		{Name: "kube-scheduler", Args: []string{config, "--leader-elect=false"}},
		{Name: "kube-proxy", Args: []string{"--config=" + in("kube-proxy.yaml")}},
		{Name: "coredns", Args: []string{"-conf=" + in("Corefile")}},
		{Name: "containerd", Ready: containerdReady, Args: []string{
			"--config=" + in("containerd.toml"), "--log-level=warn",
		}},
		{Name: "kubelet", Args: []string{
			config, "--config=" + in("kubelet.yaml"), "--root-dir=" + in("kubelet"),
			"--hostname-override=" + nodeName, "--node-ip=" + nodeIPv4 + "," + nodeIPv6,
		}},
	}
}

// environment is what every component sees: nothing of the caller's proxies or
// credentials, and the node's own programs first on the path.
func environment(c checkout) []string {
	return []string{
		"PATH=" + c.bin() + ":/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
		"HOME=" + stateDir,
		"TMPDIR=" + os.TempDir(),
	}
}
