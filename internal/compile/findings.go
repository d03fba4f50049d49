// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package compile

import (
	"fmt"

	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/penstock-dev/penstock/api/v1alpha1"
)

// findings collects what is wrong with one object.
type findings struct {
	problems []v1alpha1.Problem
	// warnings leave the object valid.
	warnings []v1alpha1.Problem
	// providers are the names of those that may verify tokens, for expressions.
	providers []string
}

func (f *findings) add(problems ...v1alpha1.Problem) {
	f.problems = append(f.problems, problems...)
}

// invalid adds a problem of a field. The message says how to mend it.
func (f *findings) invalid(path *field.Path, format string, args ...any) {
	f.add(v1alpha1.Problem{
		Field:   path.String(),
		Reason:  v1alpha1.ReasonInvalid,
		Message: fmt.Sprintf(format, args...),
	})
}

// warn adds what people should know of a field that is valid.
func (f *findings) warn(reason string, path *field.Path, message string) {
	f.warnings = append(f.warnings, v1alpha1.Problem{Field: path.String(), Reason: reason, Message: message})
}

// IsWarning reports whether a problem leaves its object valid.
func IsWarning(problem v1alpha1.Problem) bool {
	switch problem.Reason {
	case v1alpha1.ReasonUnverifiedToken, v1alpha1.ReasonLiteralPath, v1alpha1.ReasonExemptsEveryone,
		v1alpha1.ReasonTrustsEveryone, v1alpha1.ReasonPeerIsProxy:
		return true
	default:
		return false
	}
}

// reasonOf is the reason of the condition Accepted: what must be mended first.
// What is wrong in the object itself comes before what it names.
func reasonOf(problems []v1alpha1.Problem) string {
	reason := v1alpha1.ReasonAccepted
	for _, problem := range problems {
		switch problem.Reason {
		case v1alpha1.ReasonInvalid, v1alpha1.ReasonUnresolvedPathParam:
			return v1alpha1.ReasonInvalid
		case v1alpha1.ReasonNotImplemented:
			reason = v1alpha1.ReasonNotImplemented
		case v1alpha1.ReasonTargetNotFound:
			if reason == v1alpha1.ReasonAccepted {
				reason = v1alpha1.ReasonTargetNotFound
			}
		}
	}
	return reason
}
