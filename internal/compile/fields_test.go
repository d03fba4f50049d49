// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package compile

import (
	"encoding/json"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/penstock-dev/penstock/api/v1alpha1"
)

// TestEveryFieldIsEnforcedOrRefused walks the schemas of the CRDs: each field, and
// each value of an enum, is enforced and a test shows it, or it is refused as
// NotImplemented. Nothing is ignored.
func TestEveryFieldIsEnforcedOrRefused(t *testing.T) {
	t.Parallel()
	count, inForce, refused, ignored := 0, 0, 0, 0
	for kind, fields := range specFields(t) {
		used := make(map[string]bool)
		for _, field := range fields {
			count++
			switch {
			case isRefused(kind, field.path):
				refused++
				checkRefused(t, kind, field)
			case isEnforced(kind, field, fields, used):
				inForce++
				checkValues(t, kind, field, used)
			default:
				ignored++
				t.Errorf("%s %s is neither enforced nor refused: add it to notImplemented, or enforce it and name its test in enforced", kind, field.path)
			}
		}
		for path := range enforced[kind] {
			if !used[path] {
				t.Errorf("%s %s is in enforced, but not in the schema or refused: remove it", kind, path)
			}
		}
	}
	summary := fmt.Sprintf("fields: %d in the CRDs, %d enforced, %d refused as NotImplemented, %d ignored", count, inForce, refused, ignored)
	t.Log(summary)
	if file := os.Getenv("PENSTOCK_FIELDS_SUMMARY"); file != "" {
		if err := os.WriteFile(file, []byte(summary+"\n"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// isRefused reports whether the table names the field or one that it is in.
func isRefused(kind, path string) bool {
	for {
		if _, refused := notImplemented[kind][path]; refused {
			return true
		}
		parent := path[:max(strings.LastIndex(path, "."), 0)]
		if parent == "" {
			return false
		}
		path = strings.TrimSuffix(parent, "[]")
	}
}

// isEnforced reports whether a test is named for the field or one in it.
func isEnforced(kind string, field schemaField, fields []schemaField, used map[string]bool) bool {
	if _, named := enforced[kind][field.path]; named {
		used[field.path] = true
		return true
	}
	return slices.ContainsFunc(fields, func(inner schemaField) bool {
		_, named := enforced[kind][inner.path]
		return named && (strings.HasPrefix(inner.path, field.path+".") || strings.HasPrefix(inner.path, field.path+"[]."))
	})
}

// checkValues wants each value of an enum enforced or refused.
func checkValues(t *testing.T, kind string, field schemaField, used map[string]bool) {
	t.Helper()
	for _, value := range field.Enum {
		path := field.valuePath(value)
		if _, refused := notImplemented[kind][path]; refused {
			if got := refusals(t, kind, field.path, value); !got[field.path] {
				t.Errorf("%s %s is in the table, but was not refused", kind, path)
			}
			continue
		}
		if _, named := enforced[kind][path]; !named {
			t.Errorf("%s %s is neither enforced nor refused: add it to notImplemented, or enforce it and name its test in enforced", kind, path)
		}
		used[path] = true
	}
}

// checkRefused sets the field on an object and wants it refused.
func checkRefused(t *testing.T, kind string, field schemaField) {
	t.Helper()
	got := refusals(t, kind, field.path, field.sample())
	for path := range got {
		if path == field.path || strings.HasPrefix(field.path, path+".") || strings.HasPrefix(field.path, path+"[]") {
			return
		}
	}
	t.Errorf("%s %s was set and not refused as NotImplemented; refused: %v", kind, field.path, slices.Sorted(maps.Keys(got)))
}

var index = regexp.MustCompile(`\[[0-9]+\]`)

// refusals compiles an object with the field set to the value, and returns the
// fields that were refused as NotImplemented, without indices.
func refusals(t *testing.T, kind, path string, value any) map[string]bool {
	t.Helper()
	object := make(map[string]any)
	setField(object, strings.Split(path, "."), value)
	encoded, err := json.Marshal(object)
	if err != nil {
		t.Fatal(err)
	}
	var problems []v1alpha1.Problem
	switch kind {
	case KindRateLimitPolicy:
		policy := &v1alpha1.RateLimitPolicy{}
		decode(t, encoded, policy)
		problems = Namespace(namespaceInput(policy)).Policies[""].Problems
	case kindClusterPolicy:
		policy := &v1alpha1.ClusterRateLimitPolicy{}
		decode(t, encoded, policy)
		problems = ClusterPolicy(policy)
	case kindStore:
		store := &v1alpha1.RateLimitStore{}
		decode(t, encoded, store)
		problems = Store(store)
	default:
		t.Fatalf("kind %s has no check", kind)
	}
	refused := make(map[string]bool)
	for _, problem := range problems {
		if problem.Reason == v1alpha1.ReasonNotImplemented {
			refused[index.ReplaceAllString(problem.Field, "[]")] = true
		}
	}
	return refused
}

func decode(t *testing.T, encoded []byte, into any) {
	t.Helper()
	if err := json.Unmarshal(encoded, into); err != nil {
		t.Fatalf("decode %s: %v", encoded, err)
	}
}

// setField sets a field and makes the objects and lists on the way to it.
func setField(object map[string]any, path []string, value any) {
	name, isList := strings.CutSuffix(path[0], "[]")
	if len(path) == 1 {
		object[name] = value
		return
	}
	child := make(map[string]any)
	setField(child, path[1:], value)
	object[name] = child
	if isList {
		object[name] = []any{child}
	}
}

func TestAbsentIsolationIsRefused(t *testing.T) {
	t.Parallel()
	if got := refusals(t, kindStore, "spec.addresses", []any{"redis:6379"}); !got["spec.isolation"] {
		t.Error("a store without isolation means PerNamespace and must be refused")
	}
}

// TestNotImplementedTableIsOfTheSchema wants no entry that nothing can match.
func TestNotImplementedTableIsOfTheSchema(t *testing.T) {
	t.Parallel()
	fields := specFields(t)
	for kind, table := range notImplemented {
		known := map[string]bool{"spec": true}
		for _, field := range fields[kind] {
			known[field.path], known[field.path+"="] = true, true
			for _, value := range field.Enum {
				known[field.valuePath(value)] = true
			}
		}
		for path := range table {
			if !known[path] {
				t.Errorf("%s %s is in the table and not in the schema", kind, path)
			}
		}
	}
}

// TestEnforcedFieldsNameTestsThatExist reads the test files that enforced names.
func TestEnforcedFieldsNameTestsThatExist(t *testing.T) {
	t.Parallel()
	packages := make(map[string]*testNames)
	for kind, tests := range enforced {
		for path, name := range tests {
			folder, test, ok := strings.Cut(name, ".")
			if !ok {
				t.Errorf("%s %s names %q: write folder.Test or folder.Test/case", kind, path, name)
				continue
			}
			if packages[folder] == nil {
				packages[folder] = readTests(t, folder)
			}
			test, testCase, hasCase := strings.Cut(test, "/")
			if !packages[folder].functions[test] {
				t.Errorf("%s %s: there is no test %s in %s", kind, path, test, folder)
			}
			if hasCase && !packages[folder].texts[testCase] {
				t.Errorf("%s %s: there is no case %q in %s", kind, path, testCase, folder)
			}
		}
	}
}

// testNames are the test functions of a package and all texts in its test files,
// the names of cases among them.
type testNames struct {
	functions, texts map[string]bool
}

func readTests(t *testing.T, folder string) *testNames {
	t.Helper()
	names := &testNames{functions: make(map[string]bool), texts: make(map[string]bool)}
	files, err := filepath.Glob(filepath.Join("../..", folder, "*_test.go"))
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		parsed, err := parser.ParseFile(token.NewFileSet(), file, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(parsed, func(node ast.Node) bool {
			switch node := node.(type) {
			case *ast.FuncDecl:
				names.functions[node.Name.Name] = strings.HasPrefix(node.Name.Name, "Test")
			case *ast.BasicLit:
				if text, err := strconv.Unquote(node.Value); err == nil && node.Kind == token.STRING {
					names.texts[text] = true
				}
			}
			return true
		})
	}
	return names
}
