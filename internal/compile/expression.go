// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package compile

import (
	"slices"
	"strings"

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
	program, err := expression.Compile(kind, text)
	if err != nil {
		found.invalid(at, "%v", err)
		return
	}
	for _, name := range program.Providers() {
		checkProviderName(name, at, found)
	}
}

// checkProviderName wants a provider of the policy: the claims of any other never exist.
func checkProviderName(name string, at *field.Path, found *findings) {
	switch {
	case slices.Contains(found.providers, name):
	case len(found.providers) == 0:
		found.invalid(at, "asks for claims that the provider %q verified, and the policy has no provider: name the issuer in spec.jwt.providers", name)
	default:
		found.invalid(at, "asks for claims that the provider %q verified; the policy has %s: name one of these, or add it to spec.jwt.providers",
			name, strings.Join(found.providers, ", "))
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
