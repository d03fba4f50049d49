// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package api

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"sigs.k8s.io/yaml"

	"github.com/penstock-dev/penstock/test/controlplane"
)

type schema = apiextensionsv1.JSONSchemaProps

// definitions reads the CRDs by kind.
func definitions(tb testing.TB) map[string]*apiextensionsv1.CustomResourceDefinition {
	tb.Helper()
	root, err := controlplane.Root()
	if err != nil {
		tb.Fatal(err)
	}
	files, err := filepath.Glob(filepath.Join(root, "config", "crd", "bases", "*.yaml"))
	if err != nil || len(files) == 0 {
		tb.Fatalf("find the CRDs: %d files, %v; run: make generate", len(files), err)
	}
	found := map[string]*apiextensionsv1.CustomResourceDefinition{}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			tb.Fatalf("read a CRD: %v", err)
		}
		definition := &apiextensionsv1.CustomResourceDefinition{}
		if err := yaml.UnmarshalStrict(text, definition); err != nil {
			tb.Fatalf("parse %s: %v", file, err)
		}
		found[definition.Spec.Names.Kind] = definition
	}
	return found
}

// specOf is the schema of a kind's spec.
func specOf(tb testing.TB, kind string) schema {
	tb.Helper()
	definition, ok := definitions(tb)[kind]
	if !ok {
		tb.Fatalf("no CRD of kind %s; run: make generate", kind)
	}
	return definition.Spec.Versions[0].Schema.OpenAPIV3Schema.Properties["spec"]
}

// walk visits the schemas of a spec with their paths, such as spec.rules[].name.
// Label selectors are Kubernetes' own and left out. The limits of tiers are of the
// same type as those of rules, and left out too: TestTiersHaveTheLimitsOfRules.
func walk(path string, node schema, visit func(path string, node schema)) {
	if strings.HasSuffix(strings.ToLower(path), "selector") || strings.HasSuffix(path, ".tiers[].limits") {
		return
	}
	visit(path, node)
	for _, name := range slices.Sorted(maps.Keys(node.Properties)) {
		walk(path+"."+name, node.Properties[name], visit)
	}
	if node.Items != nil && node.Items.Schema != nil {
		walk(path+"[]", *node.Items.Schema, visit)
	}
}

// boundsOf lists what a schema demands besides its CEL rules, as in maxLength=63.
func boundsOf(node schema) []string {
	var bounds []string
	number := func(name string, value *int64) {
		if value != nil {
			bounds = append(bounds, fmt.Sprintf("%s=%d", name, *value))
		}
	}
	decimal := func(name string, value *float64) {
		if value != nil {
			bounds = append(bounds, fmt.Sprintf("%s=%.0f", name, *value))
		}
	}
	number("minLength", node.MinLength)
	number("maxLength", node.MaxLength)
	number("minItems", node.MinItems)
	number("maxItems", node.MaxItems)
	number("minProperties", node.MinProperties)
	number("maxProperties", node.MaxProperties)
	decimal("minimum", node.Minimum)
	decimal("maximum", node.Maximum)
	if node.Pattern != "" {
		bounds = append(bounds, "pattern")
	}
	if node.XListType != nil {
		bounds = append(bounds, "listType="+*node.XListType)
	}
	for _, value := range node.Enum {
		bounds = append(bounds, "enum="+string(value.Raw))
	}
	for _, name := range node.Required {
		bounds = append(bounds, "required="+name)
	}
	return bounds
}

var indexPattern = regexp.MustCompile(`\[\d+\]`)

// general makes the path of a schema from that of a field: without indices.
func general(path string) string { return indexPattern.ReplaceAllString(path, "[]") }
