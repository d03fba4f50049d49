// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"slices"

	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/penstock-dev/penstock/api/v1alpha1"
	"github.com/penstock-dev/penstock/internal/compile"
	"github.com/penstock-dev/penstock/internal/ruleset"
)

const defaultNamespace = "default"

// loaded are policy files in compiled form.
type loaded struct {
	documents []*document
	ruleSet   *ruleset.RuleSet
	// warnings are what people should know of policies that are valid.
	warnings []error
}

// loadPolicies reads and compiles policy files. All policies are of one namespace:
// the given one, or if that is empty the one that they name, else "default". There
// are no pods, so every policy is for every request. The error is of all that is wrong
// in all files.
func loadPolicies(files []string, namespace string) (*loaded, error) {
	l := &loaded{}
	var problems []error
	for _, file := range files {
		documents, err := readPolicies(file)
		problems = append(problems, err)
		for _, d := range documents {
			if d.policy == nil {
				problems = append(problems, d.notForRun())
				continue
			}
			l.documents = append(l.documents, d)
		}
	}
	namespace, settled, err := l.settleNames(namespace)
	problems = append(problems, err, l.compile(namespace, settled))
	switch err := inOrder(files, problems...); {
	case err == nil:
		return l, nil
	case onlyUnreadable(err):
		return nil, err
	default:
		return nil, fmt.Errorf("%w:\n%w", errInvalidPolicy, err)
	}
}

// onlyUnreadable reports whether nothing is wrong but that files cannot be read.
func onlyUnreadable(err error) bool {
	return !slices.ContainsFunc(flatten(nil, err), func(p *fileProblem) bool { return !errors.Is(p, errUnreadable) })
}

// settleNames wants each policy to have a name of its own and all to be of one
// namespace. It returns that, and the policies of which this holds.
func (l *loaded) settleNames(namespace string) (string, []*document, error) {
	var problems []error
	var settled []*document
	seen := make(map[string]bool)
	for _, d := range l.documents {
		metadata, before := &d.policy.ObjectMeta, len(problems)
		switch {
		case metadata.Name == "":
			problems = append(problems, d.problem("metadata.name", "is missing: write one, such as metadata: {name: web}"))
		case len(validation.IsDNS1123Subdomain(metadata.Name)) > 0:
			problems = append(problems, d.problem("metadata.name", "%q is not a name: write lower case letters, digits, hyphens and dots", metadata.Name))
		case seen[metadata.Name]:
			problems = append(problems, d.problem("metadata.name", "%q is the name of a policy before this one: give this one another", metadata.Name))
		}
		seen[metadata.Name] = true
		if namespace == "" {
			namespace = metadata.Namespace
		}
		if metadata.Namespace != "" && metadata.Namespace != namespace {
			problems = append(problems, d.problem("metadata.namespace", "is %q, but another policy or --namespace says %q: run one namespace at a time", metadata.Namespace, namespace))
		}
		if len(problems) == before {
			settled = append(settled, d)
		}
	}
	return cmp.Or(namespace, defaultNamespace), settled, errors.Join(problems...)
}

// compile compiles policies whose names are settled.
func (l *loaded) compile(namespace string, documents []*document) error {
	in := compile.Input{Namespace: namespace, Targets: make(map[compile.Target]compile.Resolved)}
	for _, d := range documents {
		d.policy.Namespace, d.policy.Generation = namespace, 1
		in.Policies = append(in.Policies, d.policy)
	}
	// Targets cannot be looked up here: any selector stands for them.
	for _, target := range compile.Targets(in.Policies) {
		in.Targets[target] = compile.Resolved{Selector: ruleset.Selector{MatchLabels: map[string]string{"name": target.Name}}}
	}
	out := compile.Namespace(in)
	var problems []error
	for _, d := range documents {
		for _, problem := range out.Policies[d.policy.Name].Problems {
			told := d.problem(problem.Field, "%s", messageOf(problem))
			if told == nil {
				continue
			}
			if compile.IsWarning(problem) {
				l.warnings = append(l.warnings, told)
				continue
			}
			problems = append(problems, told)
		}
	}
	l.ruleSet = out.RuleSet
	for i := range l.ruleSet.Policies {
		l.ruleSet.Policies[i].Selectors = []ruleset.Selector{{}}
	}
	return errors.Join(problems...)
}

// warn prints the warnings, one a line.
func (l *loaded) warn(to io.Writer) {
	for _, warning := range l.warnings {
		// An output that is closed is no reason to end.
		_, _ = fmt.Fprintln(to, "warning:", warning)
	}
}

func messageOf(problem v1alpha1.Problem) string {
	if problem.Reason == v1alpha1.ReasonInvalid {
		return problem.Message
	}
	return problem.Reason + ": " + problem.Message
}
