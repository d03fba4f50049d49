// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"embed"
	"encoding/pem"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"text/template"
)

//go:embed templates
var templates embed.FS

// configurationFiles maps a template to the file it becomes in the state folder.
var configurationFiles = map[string]string{
	"kubeconfig.yaml": "kubeconfig",
	"kubelet.yaml":    "kubelet.yaml",
	"kube-proxy.yaml": "kube-proxy.yaml",
	"containerd.toml": "containerd.toml",
	"cni.json":        "cni/10-penstock.conflist",
	"Corefile":        "Corefile",
}

// values are what the templates may use.
type values struct {
	State, APIServer, Token, Cgroup, NodeName, NodeIPv4, PodIPv4, PodIPv6, PauseImage string
}

// writeConfiguration fills a fresh state folder: configuration of every program, the
// administrator's token and the key that signs service account tokens.
func writeConfiguration() error {
	for _, dir := range []string{"log", "certs", "cni"} {
		if err := os.MkdirAll(in(dir), 0o700); err != nil {
			return fmt.Errorf("make the state folder: %w", err)
		}
	}
	token := rand.Text()
	for name, target := range configurationFiles {
		text, err := render(name, values{
			State: stateDir, APIServer: apiServerURL, Token: token, Cgroup: cgroup, NodeName: nodeName,
			NodeIPv4: nodeIPv4, PodIPv4: podIPv4, PodIPv6: podIPv6, PauseImage: pauseImage,
		})
		if err != nil {
			return err
		}
		if err := write(target, text); err != nil {
			return err
		}
	}
	if err := write("token", token); err != nil {
		return err
	}
	if err := write("certs/tokens.csv", token+`,admin,admin,"system:masters"`+"\n"); err != nil {
		return err
	}
	if err := write("resolv.conf", "nameserver "+nodeIPv4+"\n"); err != nil {
		return err
	}
	key, err := newSigningKey()
	if err != nil {
		return err
	}
	return write("certs/service-accounts.key", key)
}

func render(name string, v values) (string, error) {
	t, err := template.New(name).ParseFS(templates, "templates/"+name)
	if err != nil {
		return "", fmt.Errorf("parse the template %s: %w", name, err)
	}
	var text strings.Builder
	if err := t.Execute(&text, v); err != nil {
		return "", fmt.Errorf("fill the template %s: %w", name, err)
	}
	return text.String(), nil
}

func newSigningKey() (string, error) {
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		return "", fmt.Errorf("make the key for service account tokens: %w", err)
	}
	block := &pem.Block{Type: "RSA PRIVATE KEY", Bytes: x509.MarshalPKCS1PrivateKey(key)}
	return string(pem.EncodeToMemory(block)), nil
}

func write(name, text string) error {
	path := in(filepath.FromSlash(name))
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		return fmt.Errorf("write the node's configuration: %w", err)
	}
	return nil
}
