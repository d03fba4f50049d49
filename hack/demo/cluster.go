// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"context"
	"embed"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/envtest"
)

//go:embed objects/*.yaml
var objects embed.FS

// cluster is a control plane: an API server and its etcd, without any node.
type cluster struct {
	environment *envtest.Environment
	client      client.Client
	kubeconfig  string
	kubectlPath string
}

func startCluster(bin, scratch string) (*cluster, error) {
	assets, err := filepath.Abs(filepath.Join(bin, "controlplane"))
	if err != nil {
		return nil, err
	}
	environment := &envtest.Environment{
		BinaryAssetsDirectory: assets,
		CRDDirectoryPaths:     []string{"config/crd/bases"},
		ErrorIfCRDPathMissing: true,
	}
	config, err := environment.Start()
	if err != nil {
		return nil, fmt.Errorf("start the control plane from %s (make controlplane builds it): %w", assets, err)
	}
	c := &cluster{environment: environment, kubeconfig: filepath.Join(scratch, "kubeconfig"), kubectlPath: filepath.Join(assets, "kubectl")}
	if err := os.WriteFile(c.kubeconfig, environment.KubeConfig, 0o600); err != nil {
		return nil, fmt.Errorf("write the kubeconfig: %w", err)
	}
	c.client, err = client.New(config, client.Options{})
	return c, err
}

func (c *cluster) stop() error { return c.environment.Stop() }

// kubectl runs kubectl as a person would.
func (c *cluster) kubectl(ctx context.Context, out io.Writer, arguments ...string) error {
	return c.kubectlWithInput(ctx, nil, out, arguments...)
}

func (c *cluster) kubectlWithInput(ctx context.Context, in io.Reader, out io.Writer, arguments ...string) error {
	command := exec.CommandContext(ctx, c.kubectlPath, arguments...)
	command.Env = append(os.Environ(), "KUBECONFIG="+c.kubeconfig)
	var problems bytes.Buffer
	command.Stdin, command.Stdout, command.Stderr = in, out, &problems
	if err := command.Run(); err != nil {
		return fmt.Errorf("kubectl %s: %w: %s", strings.Join(arguments, " "), err, strings.TrimSpace(problems.String()))
	}
	return nil
}

// applyObjects applies the demo's objects in the order of their files' names.
func (c *cluster) applyObjects(ctx context.Context, values map[string]string) error {
	files, err := objects.ReadDir("objects")
	if err != nil {
		return err
	}
	for _, file := range files {
		text, err := objects.ReadFile("objects/" + file.Name())
		if err != nil {
			return err
		}
		expanded := string(text)
		for name, value := range values {
			expanded = strings.ReplaceAll(expanded, "${"+name+"}", value)
		}
		if err := c.kubectlWithInput(ctx, strings.NewReader(expanded), os.Stdout, "apply", "-f", "-"); err != nil {
			return err
		}
	}
	return nil
}
