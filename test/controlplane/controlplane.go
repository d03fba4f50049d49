// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package controlplane

import (
	"errors"
	"fmt"
	"path/filepath"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/envtest"

	"github.com/penstock-dev/penstock/api/v1alpha1"
)

const (
	// startTimeout bounds the start of each program.
	startTimeout = 60 * time.Second
	// stopTimeout bounds the end of each program, which is killed then.
	stopTimeout = 20 * time.Second
)

// Options are what a control plane can be given. The zero value is of use.
type Options struct {
	// Scheme is that of Client. Absent: NewScheme.
	Scheme *runtime.Scheme
	// Configure changes the environment before it starts, for example to install
	// webhooks. Absent: nothing is changed.
	Configure func(*envtest.Environment)
}

// ControlPlane is a running kube-apiserver with its etcd.
type ControlPlane struct {
	// Config connects as an administrator (group system:masters).
	Config *rest.Config
	// Client asks the API server directly, without a cache.
	Client client.Client
	// Environment is what runs it.
	Environment *envtest.Environment

	programs   string
	kubeconfig []byte
}

// NewScheme has the kinds of Kubernetes and of Penstock.
func NewScheme() (*runtime.Scheme, error) {
	scheme := runtime.NewScheme()
	if err := clientgoscheme.AddToScheme(scheme); err != nil {
		return nil, fmt.Errorf("add the kinds of Kubernetes: %w", err)
	}
	if err := v1alpha1.AddToScheme(scheme); err != nil {
		return nil, fmt.Errorf("add the kinds of Penstock: %w", err)
	}
	return scheme, nil
}

// Start runs a control plane until the test ends.
func Start(tb testing.TB, options Options) *ControlPlane {
	tb.Helper()
	c, err := Launch(options)
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() {
		if err := c.Stop(); err != nil {
			tb.Error(err)
		}
	})
	return c
}

// Launch runs a control plane until Stop. It is for TestMain.
func Launch(options Options) (*ControlPlane, error) {
	root, err := Root()
	if err != nil {
		return nil, err
	}
	programs, err := findPrograms(root)
	if err != nil {
		return nil, err
	}
	if options.Scheme == nil {
		if options.Scheme, err = NewScheme(); err != nil {
			return nil, err
		}
	}
	environment := &envtest.Environment{
		Scheme:                   options.Scheme,
		BinaryAssetsDirectory:    programs,
		CRDDirectoryPaths:        []string{filepath.Join(root, "config", "crd", "bases")},
		ErrorIfCRDPathMissing:    true,
		ControlPlaneStartTimeout: startTimeout,
		ControlPlaneStopTimeout:  stopTimeout,
	}
	if options.Configure != nil {
		options.Configure(environment)
	}
	config, err := environment.Start()
	if err != nil {
		return nil, errors.Join(fmt.Errorf("start the control plane from %s: %w", programs, err), environment.Stop())
	}
	c := &ControlPlane{Config: config, Environment: environment, programs: programs, kubeconfig: environment.KubeConfig}
	if c.Client, err = client.New(config, client.Options{Scheme: options.Scheme}); err != nil {
		return nil, errors.Join(fmt.Errorf("connect to the control plane: %w", err), c.Stop())
	}
	return c, nil
}

// Stop ends the control plane.
func (c *ControlPlane) Stop() error {
	if err := c.Environment.Stop(); err != nil {
		return fmt.Errorf("stop the control plane: %w", err)
	}
	return nil
}
