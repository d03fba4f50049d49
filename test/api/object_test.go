// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package api

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"github.com/penstock-dev/penstock/api/v1alpha1"
)

const (
	kindPolicy        = "RateLimitPolicy"
	kindClusterPolicy = "ClusterRateLimitPolicy"
	kindStore         = "RateLimitStore"
)

const baseRules = `
  rules:
  - name: rule
    limits: [{name: limit, requests: 10, window: 1m}]
`

// bases are the smallest valid objects.
var bases = map[string]string{
	kindPolicy:        "spec:\n  selector: {}" + baseRules,
	kindClusterPolicy: "spec:\n  namespaceSelector: {}" + baseRules,
	kindStore:         "spec:\n  addresses: [redis.redis.svc:6379]\n",
}

// change says what of an object is other than in its base: values in YAML by the
// path of their field. An empty value takes the field away.
type change map[string]string

// object makes an object of a kind from its base.
func object(tb testing.TB, kind string, changes ...change) *unstructured.Unstructured {
	tb.Helper()
	content := map[string]any{}
	mustParse(tb, bases[kind], &content)
	content["apiVersion"] = v1alpha1.SchemeGroupVersion.String()
	content["kind"] = kind
	content["metadata"] = map[string]any{"name": "test"}
	if kind == kindPolicy {
		content["metadata"] = map[string]any{"name": "test", "namespace": "default"}
	}
	for _, c := range changes {
		for path, text := range c {
			if text == "" {
				setField(tb, content, path, nil, true)
				continue
			}
			var value any
			mustParse(tb, text, &value)
			setField(tb, content, path, value, false)
		}
	}
	return &unstructured.Unstructured{Object: content}
}

func mustParse(tb testing.TB, text string, into any) {
	tb.Helper()
	if err := yaml.Unmarshal([]byte(text), into); err != nil {
		tb.Fatalf("parse %q: %v", text, err)
	}
}

// setField sets or removes the value at a path such as spec.rules[0].name. Maps on
// the way are made; lists must have the element.
func setField(tb testing.TB, content map[string]any, path string, value any, remove bool) {
	tb.Helper()
	steps := strings.Split(strings.ReplaceAll(path, "[", ".["), ".")
	var node any = content
	for i, step := range steps {
		last := i == len(steps)-1
		switch container := node.(type) {
		case map[string]any:
			switch {
			case last && remove:
				delete(container, step)
			case last:
				container[step] = value
			case container[step] == nil:
				container[step] = map[string]any{}
			}
			node = container[step]
		case []any:
			index, err := strconv.Atoi(strings.Trim(step, "[]"))
			if err != nil || index >= len(container) {
				tb.Fatalf("set %s: no element %s", path, step)
			}
			if last {
				container[index] = value
			}
			node = container[index]
		default:
			tb.Fatalf("set %s: %s is within a value", path, step)
		}
	}
}

// submit asks the API server whether it would take an object. Unknown fields are
// an error, so that no case passes by a slip of the pen.
func submit(tb testing.TB, object *unstructured.Unstructured) error {
	tb.Helper()
	return server.Client.Create(tb.Context(), object, client.DryRunAll, client.FieldValidation(metav1.FieldValidationStrict))
}

// wantAccepted fails the test if the object is refused.
func wantAccepted(tb testing.TB, object *unstructured.Unstructured) {
	tb.Helper()
	if err := submit(tb, object); err != nil {
		tb.Errorf("accepted object was refused: %v", err)
	}
}

// wantRefused fails the test unless the object is refused for this field with a
// message that holds these words.
func wantRefused(tb testing.TB, object *unstructured.Unstructured, field, words string) {
	tb.Helper()
	err := submit(tb, object)
	if err == nil {
		tb.Errorf("object was accepted, want it refused for %s: %s", field, words)
		return
	}
	status, ok := errors.AsType[*apierrors.StatusError](err)
	if !ok || status.ErrStatus.Details == nil {
		tb.Errorf("create: %v, want a refusal for %s: %s", err, field, words)
		return
	}
	var causes []string
	for _, cause := range status.ErrStatus.Details.Causes {
		if cause.Field == field && strings.Contains(cause.Message, words) {
			return
		}
		causes = append(causes, fmt.Sprintf("%s: %s", cause.Field, cause.Message))
	}
	tb.Errorf("refused for\n%s\nwant\n%s: %s", strings.Join(causes, "\n"), field, words)
}
