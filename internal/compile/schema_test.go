// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package compile

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"sigs.k8s.io/yaml"
)

const crdFolder = "../../config/crd/bases"

// schema is what of a CRD's schema the walk needs.
type schema struct {
	Type       string            `json:"type"`
	Properties map[string]schema `json:"properties"`
	Items      *schema           `json:"items"`
	Enum       []string          `json:"enum"`
}

// schemaField is one field of a spec.
type schemaField struct {
	// path has [] for entries of lists.
	path string
	schema
}

// specFields are all fields in the spec of each kind, a parent before its children.
// Entries of a list of an enum are a field of their own, without counting as one.
func specFields(t *testing.T) map[string][]schemaField {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(crdFolder, "*.yaml"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no CRDs in %s: run make generate (%v)", crdFolder, err)
	}
	fields := make(map[string][]schemaField)
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		var crd struct {
			Spec struct {
				Names    struct{ Kind string }
				Versions []struct {
					Schema struct {
						OpenAPIV3Schema schema
					}
				}
			}
		}
		if err := yaml.Unmarshal(text, &crd); err != nil || len(crd.Spec.Versions) != 1 {
			t.Fatalf("read %s: %v, %d versions", file, err, len(crd.Spec.Versions))
		}
		spec := crd.Spec.Versions[0].Schema.OpenAPIV3Schema.Properties["spec"]
		fields[crd.Spec.Names.Kind] = fieldsOf("spec", spec)
	}
	return fields
}

func fieldsOf(path string, s schema) []schemaField {
	var fields []schemaField
	for _, name := range slices.Sorted(maps.Keys(s.Properties)) {
		child := s.Properties[name]
		field := schemaField{path: path + "." + name, schema: child}
		if child.Items == nil {
			fields = append(fields, field)
			fields = append(fields, fieldsOf(field.path, child)...)
			continue
		}
		field.Enum = child.Items.Enum
		fields = append(fields, field)
		fields = append(fields, fieldsOf(field.path+"[]", *child.Items)...)
	}
	return fields
}

// valuePath is how tables name a value of the field.
func (f schemaField) valuePath(value string) string {
	if f.Items != nil {
		return fmt.Sprintf("%s[]=%s", f.path, value)
	}
	return fmt.Sprintf("%s=%s", f.path, value)
}

// sample is a value of the schema, with as little in it as the JSON keeps.
func (s schema) sample() any {
	switch {
	case len(s.Enum) > 0 && s.Items == nil:
		return s.Enum[len(s.Enum)-1]
	case s.Type == "array":
		return []any{s.Items.sample()}
	case s.Type == "object":
		object := make(map[string]any)
		for name, child := range s.Properties {
			object[name] = child.sample()
		}
		return object
	case s.Type == "integer":
		return 1
	default:
		return "1s"
	}
}
