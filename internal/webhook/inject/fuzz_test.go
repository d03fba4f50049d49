// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package inject

import (
	"encoding/json"
	"testing"
)

// FuzzPod holds for any object: no panic, the patch applies, and the outcome needs
// no further change.
func FuzzPod(f *testing.F) {
	f.Add([]byte(guardedPod))
	f.Add([]byte(`{"metadata":{"annotations":{"penstock.dev/ports":"8080, web"}},"spec":{"initContainers":[],"volumes":[],"containers":[{"name":"a","ports":[{"name":"web","containerPort":8080}]}]}}`))
	f.Add([]byte(`{"metadata":{"labels":{"penstock.dev/inject":"false"},"annotations":null},"spec":{"hostNetwork":true}}`))
	f.Add([]byte(`{"metadata":{"annotations":{"penstock.dev/forwarded-for":"Preserve","penstock.dev/app-host":"127.0.0.1"}},"spec":{"containers":[{"name":"a","ports":[{"name":"web","containerPort":8080}]}]}}`))
	f.Add([]byte(`{"metadata":{"annotations":{"penstock.dev/app-host":"fe80::1%eth0"}},"spec":{"containers":[{"name":"a","ports":[{"name":"web","containerPort":8080}]}]}}`))
	f.Add([]byte(`{"Metadata":{},"spec":{"containers":[null]}}`))
	f.Fuzz(func(t *testing.T, object []byte) {
		// The API server sends what a JSON encoder wrote: no name twice, no
		// invalid UTF-8.
		var value map[string]any
		if json.Unmarshal(object, &value) != nil {
			return
		}
		object, err := json.Marshal(value)
		if err != nil {
			t.Fatal(err)
		}
		result, err := Pod(object, Namespace{CPULimitRequired: true}, Options{Image: "sidecar.test/sidecar:v1", Version: "v1"})
		if err != nil {
			return
		}
		patched, err := tryApply(result.Patch, object)
		if err != nil {
			t.Fatalf("apply %v to %s: %v", result.Patch, object, err)
		}
		again, err := Pod(patched, Namespace{CPULimitRequired: true}, Options{Image: "sidecar.test/sidecar:v1", Version: "v1"})
		if err != nil || len(again.Patch) != 0 {
			t.Fatalf("second injection of %s: %v, %v", patched, again.Patch, err)
		}
	})
}
