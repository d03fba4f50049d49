// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/penstock-dev/penstock/api/v1alpha1"
	"github.com/penstock-dev/penstock/internal/compile"
)

// Names of the fields that say what an object is.
const (
	apiVersionField = "apiVersion"
	kindField       = "kind"
)

// Kinds of Penstock.
const (
	kindPolicy        = compile.KindRateLimitPolicy
	kindStore         = "RateLimitStore"
	kindClusterPolicy = "ClusterRateLimitPolicy"
)

// ourKinds are those of Penstock.
var ourKinds = []string{kindPolicy, kindStore, kindClusterPolicy}

// head says what kind of object a document is. A field that is missing, or is no text,
// is empty.
type head struct {
	apiVersion, kind string
}

// headOf reads the head of an object. The names of the fields may be misspelled.
func headOf(object *yaml.Node) head {
	return head{apiVersion: textOf(object, apiVersionField), kind: textOf(object, kindField)}
}

func textOf(object *yaml.Node, name string) string {
	found := ""
	for i := 0; i+1 < len(object.Content); i += 2 {
		key, value := object.Content[i].Value, object.Content[i+1]
		switch {
		case value.Kind != yaml.ScalarNode || isNull(value):
		case key == name:
			return value.Value
		case found == "" && nearest(key, []string{name}) == name:
			found = value.Value
		}
	}
	return found
}

// objectsOf are those of a list, as kubectl get writes it, else the only one.
func objectsOf(node *yaml.Node) []*yaml.Node {
	if node.Kind != yaml.MappingNode || !strings.HasSuffix(textOf(node, kindField), "List") {
		return []*yaml.Node{node}
	}
	for i := 0; i+1 < len(node.Content); i += 2 {
		if items := node.Content[i+1]; node.Content[i].Value == "items" && items.Kind == yaml.SequenceNode {
			return items.Content
		}
	}
	return []*yaml.Node{node}
}

// meantKind is the kind that is written or likely meant; empty if none of Penstock is.
func (h head) meantKind() string {
	if slices.Contains(ourKinds, h.kind) {
		return h.kind
	}
	return nearest(h.kind, ourKinds)
}

// isOurs reports whether an object is likely meant for Penstock.
func (h head) isOurs() bool {
	return h.meantKind() != "" || strings.Contains(h.apiVersion, "penstock") || nearest(h.apiVersion, []string{v1alpha1.SchemeGroupVersion.String()}) != ""
}

// isForeign reports whether an object is of another project, and not only without a head.
func (h head) isForeign() bool { return h.apiVersion != "" && !h.isOurs() }

// checkHead wants the kind and version that Penstock has.
func (d *document) checkHead() {
	h, version := d.head, v1alpha1.SchemeGroupVersion.String()
	switch {
	case h.apiVersion == version:
	case h.apiVersion == "":
		d.fault(apiVersionField, "is missing: write apiVersion: %s", version)
	case h.isForeign():
		d.fault(apiVersionField, "is %s, not %s: write that, and keep other objects in another file", h.apiVersion, version)
		return
	default:
		d.fault(apiVersionField, "is %s: write %s", h.apiVersion, version)
	}
	switch meant := h.meantKind(); {
	case h.kind == "":
		d.fault(kindField, "is missing: write kind: %s", kindPolicy)
	case meant == "":
		d.fault(kindField, "is %s, which Penstock does not have: write one of %s", h.kind, strings.Join(ourKinds, ", "))
	case meant != h.kind:
		d.fault(kindField, "is %s: did you mean %s?", h.kind, meant)
	}
}
