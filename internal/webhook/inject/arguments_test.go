// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package inject

import (
	"encoding/json"
	"slices"
	"testing"

	corev1 "k8s.io/api/core/v1"
)

func TestArgumentsOfAllSidecarsComeLast(t *testing.T) {
	t.Parallel()
	object := []byte(`{"apiVersion":"v1","kind":"Pod","metadata":{"name":"web","labels":{"penstock.dev/inject":"true"}},"spec":{"containers":[{"name":"app","image":"app","ports":[{"name":"http","containerPort":8080}]}]}}`)
	result, err := Pod(object, Namespace{}, Options{Image: "sidecar.test/sidecar:v1", Version: "v1", Arguments: []string{"--log-level=debug", "--idle-timeout=5m"}})
	if err != nil {
		t.Fatal(err)
	}
	var pod corev1.Pod
	if err := json.Unmarshal(apply(t, result.Patch, object), &pod); err != nil {
		t.Fatal(err)
	}
	if len(pod.Spec.InitContainers) != 1 {
		t.Fatalf("nothing was injected: %+v", result.Report)
	}
	arguments := pod.Spec.InitContainers[0].Args
	if got := arguments[len(arguments)-2:]; !slices.Equal(got, []string{"--log-level=debug", "--idle-timeout=5m"}) || arguments[0] != "--port=15480=8080" {
		t.Errorf("arguments are %q", arguments)
	}
}
