// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package compile

import (
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/penstock-dev/penstock/internal/match/expression"
)

const maxWhen = 8

// checkExpression compiles an expression as the sidecar will, to say what is wrong
// with it.
func checkExpression(kind expression.Kind, text string, at *field.Path, found *findings) {
	if text == "" {
		found.invalid(at, "is empty: write an expression of CEL, such as request.method == 'GET', or remove it")
		return
	}
	if _, err := expression.Compile(kind, text); err != nil {
		found.invalid(at, "%v", err)
	}
}

// compileWhen checks conditions.
func compileWhen(when []string, most int, at *field.Path, found *findings) []string {
	atMost(found, at, len(when), most)
	for i, text := range when {
		checkExpression(expression.Condition, text, at.Index(i), found)
	}
	return when
}
