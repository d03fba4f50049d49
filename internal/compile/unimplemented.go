// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package compile

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/penstock-dev/penstock/api/v1alpha1"
)

// unimplemented is a problem for each field of the object that the table of its
// kind names. It looks at the object as it is written, so that a field cannot be
// forgotten in code that reads it.
func unimplemented(kind string, object any) []v1alpha1.Problem {
	encoded, err := json.Marshal(object)
	if err != nil {
		return []v1alpha1.Problem{{Reason: v1alpha1.ReasonInvalid, Message: fmt.Sprintf("the object cannot be written as JSON: %v", err)}}
	}
	var written struct {
		Spec map[string]any `json:"spec"`
	}
	if err := json.Unmarshal(encoded, &written); err != nil {
		return []v1alpha1.Problem{{Reason: v1alpha1.ReasonInvalid, Message: fmt.Sprintf("the object cannot be read as JSON: %v", err)}}
	}
	w := walk{table: notImplemented[kind]}
	w.value("spec", "spec", written.Spec)
	w.absent(written.Spec)
	return w.problems
}

// walk goes through a value with the path of each field, and with the same path
// without the indices of lists, which is how the table names it.
type walk struct {
	table    map[string]string
	problems []v1alpha1.Problem
}

func (w *walk) value(path, pattern string, value any) {
	if sentence, ok := w.table[pattern]; ok {
		w.refuse(path, sentence)
		return
	}
	switch value := value.(type) {
	case map[string]any:
		for _, name := range slices.Sorted(maps.Keys(value)) {
			w.value(path+"."+name, pattern+"."+name, value[name])
		}
	case []any:
		for i, entry := range value {
			w.value(fmt.Sprintf("%s[%d]", path, i), pattern+"[]", entry)
		}
	case string:
		if sentence, ok := w.table[pattern+"="+value]; ok && value != "" {
			w.refuse(path, sentence)
		}
	}
}

// absent refuses fields that the spec lacks and whose default is not implemented.
func (w *walk) absent(spec map[string]any) {
	for _, key := range slices.Sorted(maps.Keys(w.table)) {
		path, isDefault := strings.CutSuffix(key, "=")
		if !isDefault {
			continue
		}
		if _, set := spec[strings.TrimPrefix(path, "spec.")]; !set {
			w.refuse(path, w.table[key])
		}
	}
}

func (w *walk) refuse(path, sentence string) {
	w.problems = append(w.problems, v1alpha1.Problem{Field: path, Reason: v1alpha1.ReasonNotImplemented, Message: sentence})
}
