// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package inject

import (
	"encoding/json"
	"strings"
	"testing"
)

// TestEveryChangeIsGuarded asks of every operation of every golden that changes
// something that the one before it tests a value at the same place.
func TestEveryChangeIsGuarded(t *testing.T) {
	t.Parallel()
	for name, g := range goldens(t) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			previous := Operation{}
			for _, operation := range g.inject(t, g.Pod).Patch {
				if operation.Op != "test" && (previous.Op != "test" || !sameList(previous.Path, operation.Path)) {
					t.Errorf("%s %s follows %s %s, want a test of the same place", operation.Op, operation.Path, previous.Op, previous.Path)
				}
				previous = operation
			}
		})
	}
}

// sameList is whether a guard is at a change's path or at an element of its list.
func sameList(guard, change string) bool {
	return guard == change || strings.HasPrefix(guard, change[:strings.LastIndex(change, "/")])
}

const guardedPod = `{
	"metadata": {"annotations": {"a": "b"}},
	"spec": {
		"initContainers": [{"name": "migrate"}],
		"containers": [{"name": "app", "ports": [{"name": "http", "containerPort": 8080}], "readinessProbe": {"httpGet": {"port": "http"}}}],
		"volumes": [{"name": "data"}]
	}
}`

// TestPatchFailsOnAChangedPod changes one thing that the patch was decided on, as
// another webhook might, and wants the patch to fail rather than corrupt the pod.
func TestPatchFailsOnAChangedPod(t *testing.T) {
	t.Parallel()
	result, err := Pod([]byte(guardedPod), Namespace{}, Options{Image: "sidecar.test/sidecar:v1"})
	if err != nil || !result.Report.Injected {
		t.Fatalf("inject: %+v, %v", result.Report, err)
	}
	if _, err := tryApply(result.Patch, []byte(guardedPod)); err != nil {
		t.Fatalf("apply to the pod it was made for: %v", err)
	}
	tests := map[string]struct{ before, after string }{
		"port renamed":            {`"name": "http"`, `"name": "web"`},
		"port renumbered":         {`"containerPort": 8080`, `"containerPort": 8081`},
		"port inserted":           {`"ports": [`, `"ports": [{"name": "first", "containerPort": 1}, `},
		"container inserted":      {`"containers": [`, `"containers": [{"name": "first"}, `},
		"probe changed":           {`"port": "http"`, `"port": 8080`},
		"probe removed":           {`, "readinessProbe": {"httpGet": {"port": "http"}}`, ``},
		"annotations removed":     {`"annotations": {"a": "b"}`, ``},
		"report written":          {`"a": "b"`, `"penstock.dev/status": "{}"`},
		"init container inserted": {`"initContainers": [`, `"initContainers": [{"name": "first"}, `},
		"init containers removed": {`"initContainers": [{"name": "migrate"}],`, ``},
		"init containers emptied": {`{"name": "migrate"}`, ``},
		"volume appended":         {`{"name": "data"}`, `{"name": "first"}, {"name": "data"}`},
		"volumes emptied":         {`{"name": "data"}`, ``},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			changed := strings.Replace(guardedPod, tc.before, tc.after, 1)
			if changed == guardedPod || !json.Valid([]byte(changed)) {
				t.Fatalf("the case changes nothing, or not to JSON: %s", changed)
			}
			if patched, err := tryApply(result.Patch, []byte(changed)); err == nil {
				t.Errorf("the patch applies to a changed pod, want it to fail; outcome:\n%s", patched)
			}
		})
	}
}

// TestPatchFailsWhereListsAppear covers lists that the pod lacked: adding them must
// not replace those that came meanwhile.
func TestPatchFailsWhereListsAppear(t *testing.T) {
	t.Parallel()
	const bare = `{"metadata": {}, "spec": {"containers": [{"name": "app", "ports": [{"name": "http", "containerPort": 8080}]}]}}`
	result, err := Pod([]byte(bare), Namespace{}, Options{})
	if err != nil || !result.Report.Injected {
		t.Fatalf("inject: %+v, %v", result.Report, err)
	}
	if _, err := tryApply(result.Patch, []byte(bare)); err != nil {
		t.Fatalf("apply to the pod it was made for: %v", err)
	}
	tests := map[string]struct{ before, after string }{
		"annotations":     {`"metadata": {}`, `"metadata": {"annotations": {"a": "b"}}`},
		"init containers": {`"spec": {`, `"spec": {"initContainers": [{"name": "migrate"}], `},
		"volumes":         {`"spec": {`, `"spec": {"volumes": [{"name": "data"}], `},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			changed := strings.Replace(bare, tc.before, tc.after, 1)
			if patched, err := tryApply(result.Patch, []byte(changed)); err == nil {
				t.Errorf("the patch applies to a pod that has %s by now, want it to fail; outcome:\n%s", name, patched)
			}
		})
	}
}
