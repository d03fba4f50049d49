// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package api

import (
	"encoding/json"
	"strings"
	"testing"
)

// maxDefinitionBytes is what a CRD may have as JSON: kubectl apply keeps a copy of
// it in an annotation, of which an object may have 256 KiB.
const maxDefinitionBytes = 200 << 10

func TestDefinitionsAreSmallEnoughForKubectlApply(t *testing.T) {
	t.Parallel()
	for kind, definition := range definitions(t) {
		text, err := json.Marshal(definition)
		if err != nil {
			t.Fatalf("encode the CRD of %s: %v", kind, err)
		}
		if len(text) >= maxDefinitionBytes {
			t.Errorf("CRD of %s: got %d bytes of JSON, want fewer than %d", kind, len(text), maxDefinitionBytes)
		}
	}
}

func TestFieldsAreDescribedByNameMeaningAndDefault(t *testing.T) {
	t.Parallel()
	for kind := range definitions(t) {
		walk("spec", specOf(t, kind), func(path string, node schema) {
			// The one field that is set of a union has no default.
			union := node.MaxProperties != nil && *node.MaxProperties == 1
			required := map[string]bool{}
			for _, name := range node.Required {
				required[name] = true
			}
			for name, field := range node.Properties {
				if !strings.HasPrefix(field.Description, name+" ") {
					t.Errorf("%s %s.%s: the description does not start with the name: %q", kind, path, name, field.Description)
				}
				says := strings.ToLower(field.Description)
				if field.Type != "object" && !strings.Contains(field.Description, "xample") {
					t.Errorf("%s %s.%s: the description has no example: %q", kind, path, name, field.Description)
				}
				if !required[name] && !union && !strings.Contains(says, "absent") && !strings.Contains(says, "exactly") {
					t.Errorf("%s %s.%s: the description does not say what absent means: %q", kind, path, name, field.Description)
				}
			}
		})
	}
}

func TestSpecsHaveNoDefaultsOfTheServer(t *testing.T) {
	t.Parallel()
	for kind := range definitions(t) {
		walk("spec", specOf(t, kind), func(path string, node schema) {
			if node.Default != nil {
				t.Errorf("%s %s: the server would write %s into people's objects; say in the description what absent means", kind, path, node.Default.Raw)
			}
		})
	}
}

func TestStatusListsAreBounded(t *testing.T) {
	t.Parallel()
	for kind, definition := range definitions(t) {
		status := definition.Spec.Versions[0].Schema.OpenAPIV3Schema.Properties["status"]
		if most := status.Properties["problems"].MaxItems; most == nil || *most != 32 {
			t.Errorf("%s status.problems: want at most 32", kind)
		}
		walk("status", status, func(path string, node schema) {
			if node.Type == "array" && (node.MaxItems == nil || node.XListType == nil) {
				t.Errorf("%s %s: want maxItems and a list type", kind, path)
			}
		})
	}
}
