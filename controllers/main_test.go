// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package controllers_test

import (
	"fmt"
	"os"
	"sync"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/go-logr/logr"

	"github.com/penstock-dev/penstock/test/controlplane"
)

// operatorNamespace is where the operator of these tests has its Secrets.
const operatorNamespace = "penstock-system"

var (
	shared      *controlplane.ControlPlane
	sharedError error
	startShared sync.Once
)

// TestMain ends the control plane that the tests share. It is started by the first
// test that needs it, so that the pure ones stay quick.
func TestMain(m *testing.M) {
	ctrl.SetLogger(logr.Discard())
	code := m.Run()
	if shared != nil {
		if err := shared.Stop(); err != nil {
			fmt.Fprintln(os.Stderr, err)
			code = 1
		}
	}
	os.Exit(code)
}

func sharedControlPlane(t *testing.T) *controlplane.ControlPlane {
	t.Helper()
	startShared.Do(func() {
		shared, sharedError = controlplane.Launch(controlplane.Options{})
		if sharedError == nil {
			sharedError = shared.Client.Create(t.Context(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: operatorNamespace}})
		}
	})
	if sharedError != nil {
		t.Fatal(sharedError)
	}
	return shared
}

func create(t *testing.T, writer client.Client, object client.Object) {
	t.Helper()
	if err := writer.Create(t.Context(), object); err != nil {
		t.Fatalf("create %T %s: %v", object, object.GetName(), err)
	}
}
