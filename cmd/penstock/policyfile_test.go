// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

const policyHead = "apiVersion: ratelimit.penstock.dev/v1alpha1\nkind: RateLimitPolicy\nmetadata: {name: web}\n"

func TestFileErrorsNameLineAndField(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		text string
		want string
	}{
		"object for a number":   {policyHead + "spec:\n  rules:\n  - limits:\n    - {requests: {a: 1}}\n", "policy.yaml:7: spec.rules[0].limits[0].requests: is an object, but must be a whole number"},
		"number for a text":     {policyHead + "spec:\n  mode: 7\n", "policy.yaml:5: spec.mode: \"7\" is not known: write one of Enforce, Disabled, Shadow"},
		"fraction":              {policyHead + "spec:\n  rules:\n  - limits:\n    - requests: 1.5\n", "policy.yaml:7: spec.rules[0].limits[0].requests: is the number 1.5, but must be a whole number"},
		"number for a duration": {policyHead + "spec:\n  rules:\n  - limits:\n    - window: 90\n", "policy.yaml:7: spec.rules[0].limits[0].window: is the number 90 without a unit, but must be a duration: write 90s"},
		"half a minute":         {policyHead + "spec:\n  rules:\n  - limits:\n    - window: 0.5\n", "is the number 0.5 without a unit, but must be a duration: write 500ms"},
		"no number":             {policyHead + "spec:\n  rules:\n  - limits:\n    - window: -1\n", "window: is a number, but must be a duration: write one such as 60s"},
		"list for a duration":   {policyHead + "spec:\n  rules:\n  - limits:\n    - window: [1m]\n", "window: is a list, but must be a duration: write 1m, without hyphen and brackets"},
		"UTF-16":                {utf16Of(policyHead, true), "policy.yaml:1: the file is in UTF-16"},
		"UTF-16 with no mark":   {utf16Of(policyHead, false), "policy.yaml:1: the file is in UTF-16"},
		"UTF-16, other order":   {"\xfe\xff\x00a", "policy.yaml:1: the file is in UTF-16"},
		"UTF-32":                {"\xff\xfe\x00\x00a\x00\x00\x00", "policy.yaml:1: the file is in UTF-32"},
		"text for a list":       {policyHead + "spec:\n  rules: all\n", "policy.yaml:5: spec.rules: is a text, but must be a list"},
		"list for an object":    {policyHead + "spec: []\n", "policy.yaml:4: spec: is a list, but must be an object"},
		"second document":       {policyHead + "spec: {selector: {}, rules: [{name: a, limits: [{name: b, requests: 1, window: 1s}]}]}\n---\n# two\nkind: Secret\napiVersion: v1\n", "policy.yaml:8: apiVersion: "},
		"text":                  {"hello\n", "policy.yaml:1: a document must be an object"},
		"merge key":             {policyHead + "spec:\n  <<: {mode: Enforce}\n", "policy.yaml:5: spec: a key must be a plain name"},
		"tag":                   {policyHead + "spec:\n  mode: !!binary aGVsbG8=\n", "policy.yaml:5: spec.mode: tag !!binary is not supported"},
		"not a number":          {policyHead + "spec:\n  rules: .nan\n", "policy.yaml:5: spec.rules: is a number, but must be a list"},
		"alias in itself":       {policyHead + "spec: &s\n  selector: *s\n", "policy.yaml:"},
		"missing field":         {policyHead + "spec:\n  selector: {}\n  rules:\n  - name: a\n    limits:\n    - name: b\n      requests: 1\n", "policy.yaml:9: spec.rules[0].limits[0].window: is missing"},
		"problem of the whole":  {policyHead + "spec:\n  rules: [{name: a, limits: [{name: b, requests: 1, window: 1s}]}]\n", "policy.yaml:4: spec: says nothing of which pods"},
		"no name":               {strings.Replace(policyHead, "{name: web}", "{}", 1), "policy.yaml:3: metadata.name: is missing: write one, such as metadata: {name: web}"},
		"no version":            {strings.Replace(policyHead, "apiVersion: ratelimit.penstock.dev/v1alpha1\n", "", 1) + "spec: {}\n", "policy.yaml:1: apiVersion: is missing: write apiVersion: ratelimit.penstock.dev/v1alpha1"},
		"version of another":    {strings.Replace(policyHead, "v1alpha1", "v2", 1), "policy.yaml:1: apiVersion: is ratelimit.penstock.dev/v2: write ratelimit.penstock.dev/v1alpha1"},
		"no kind":               {strings.Replace(policyHead, "kind: RateLimitPolicy\n", "", 1), "policy.yaml:1: kind: is missing: write kind: RateLimitPolicy"},
		"kind misspelled":       {strings.Replace(policyHead, "LimitPolicy", "limitsPolicy", 1), "policy.yaml:2: kind: is RatelimitsPolicy: did you mean RateLimitPolicy?"},
		"key misspelled":        {strings.Replace(policyHead, "kind", "Kind", 1), "policy.yaml:2: Kind: there is no such field: did you mean kind?"},
		"name":                  {strings.Replace(policyHead, "web", "Web", 1) + "spec: {}\n", "policy.yaml:3: metadata.name: \"Web\" is not a name"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			file := filepath.Join(t.TempDir(), "policy.yaml")
			if err := os.WriteFile(file, []byte(tc.text), 0o600); err != nil {
				t.Fatal(err)
			}
			_, err := loadPolicies(t.Context(), []string{file}, "")
			if err == nil || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("error %v, want %q", err, tc.want)
			}
		})
	}
}

// utf16Of is a text in UTF-16, as Windows writes it.
func utf16Of(text string, mark bool) string {
	var encoded strings.Builder
	if mark {
		encoded.WriteString("\xff\xfe")
	}
	for i := range len(text) {
		encoded.WriteString(text[i:i+1] + "\x00")
	}
	return encoded.String()
}

func TestAFileMayHaveTheMarkOfUTF8(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "policy.yaml")
	text := "\xef\xbb\xbf" + policyHead + "spec: {selector: {}, rules: [{name: a, limits: [{name: b, requests: 1, window: 1s}]}]}\n"
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	if loaded, err := loadPolicies(t.Context(), []string{file}, ""); err != nil || len(loaded.documents) != 1 {
		t.Errorf("loaded %+v, %v; want one policy", loaded, err)
	}
}

// TestEndlessFileIsRefused names a device by mistake.
func TestEndlessFileIsRefused(t *testing.T) {
	t.Parallel()
	if _, err := readPolicies(t.Context(), "/dev/zero"); !errors.Is(err, errUnreadable) || !strings.Contains(err.Error(), "more than 16777216 bytes") {
		t.Errorf("error %v, want one that says how long a file may be", err)
	}
}

// TestAValueIsToldOnce has values that are wrong in any type.
func TestAValueIsToldOnce(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		`{requests: "0", window: 1s, name: b}`:                  "policy.yaml:4: spec.rules[0].limits[0].requests: is 0 or missing: write a number from 1 to 2147483648",
		`{requests: 1, window: 60, name: b, burst: 9999999999}`: "policy.yaml:4: spec.rules[0].limits[0].window: is the number 60 without a unit, but must be a duration: write 60s if that is meant, or another with h, m, s or ms",
		`{requests: 1, window: 1s, name: b, algorithm: 1}`:      `policy.yaml:4: spec.rules[0].limits[0].algorithm: "1" is not known: write one of TokenBucket, LeakyBucket, SlidingWindowLog, SlidingWindowCounter, FixedWindow, Concurrency`,
	} {
		file := filepath.Join(t.TempDir(), "policy.yaml")
		write(t, file, policyHead+"spec: {selector: {}, rules: [{name: a, limits: ["+text+"]}]}\n")
		_, err := loadPolicies(t.Context(), []string{file}, "")
		if err == nil {
			t.Errorf("%s: no error", text)
			continue
		}
		told := strings.ReplaceAll(strings.TrimPrefix(err.Error(), "invalid policy:\n"), filepath.Dir(file)+"/", "")
		if told != want {
			t.Errorf("%s: told %q, want %q", text, told, want)
		}
	}
}

func TestPoliciesOfOneNamespace(t *testing.T) {
	t.Parallel()
	write := func(namespace, name string) string {
		file := filepath.Join(t.TempDir(), "policy.yaml")
		text := strings.Replace(policyHead, "{name: web}", "{name: "+name+", namespace: "+namespace+"}", 1) +
			"spec: {selector: {}, rules: [{name: a, limits: [{name: b, requests: 1, window: 1s}]}]}\n"
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return file
	}
	shop, other, unnamed := write("shop", "a"), write("other", "b"), write(`""`, "c")
	tests := map[string]struct {
		files     []string
		namespace string
		want      string
		wantError string
	}{
		"of the policies": {files: []string{unnamed, shop}, want: "shop"},
		"none":            {files: []string{unnamed}, want: "default"},
		"of the flag":     {files: []string{unnamed}, namespace: "mine", want: "mine"},
		"two":             {files: []string{shop, other}, wantError: "run one namespace at a time"},
		"another flag":    {files: []string{shop}, namespace: "mine", wantError: "run one namespace at a time"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			loaded, err := loadPolicies(t.Context(), tc.files, tc.namespace)
			if tc.wantError != "" {
				if err == nil || !strings.Contains(err.Error(), tc.wantError) {
					t.Errorf("error %v, want %q", err, tc.wantError)
				}
				return
			}
			if err != nil || loaded.ruleSet.Namespace != tc.want {
				t.Errorf("loaded %+v, %v; want namespace %q", loaded, err, tc.want)
			}
		})
	}
}

func FuzzPolicyFile(f *testing.F) {
	f.Add([]byte(policyHead + "spec: {selector: {}, rules: [{name: a, limits: [{name: b, requests: 1, window: 1s}]}]}\n"))
	f.Add([]byte(policyHead + "spec: &s\n  selector: *s\n---\n<<: {a: 1e400}\n"))
	f.Add([]byte("apiVersion: ratelimit.penstock.dev/v1alpha1\nkind: RateLimitStore\nspec: {addresses: redis, database: x}\n---\nspec: [\n--- \n\tkind: {a\n"))
	f.Add([]byte("apiVersion: v1\nkind: List\nitems: [{kind: ClusterRateLimitPolicy, spec: {rules: {name: 1}}}]\n"))
	file := filepath.Join(f.TempDir(), "policy.yaml")
	f.Fuzz(func(t *testing.T, text []byte) {
		if err := os.WriteFile(file, text, 0o600); err != nil {
			t.Fatal(err)
		}
		loaded, err := loadPolicies(t.Context(), []string{file}, "")
		if (loaded == nil) == (err == nil) {
			t.Errorf("neither policies nor an error, or both: %+v, %v", loaded, err)
		}
		c := &checking{}
		c.read(t.Context(), file)
		if err := c.check(); err != nil && !errors.Is(err, errInvalidPolicy) {
			t.Errorf("the file is not invalid, but %v", err)
		}
	})
}
