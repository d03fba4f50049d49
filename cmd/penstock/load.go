// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"errors"
	"fmt"
	"io"

	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/penstock-dev/penstock/api/v1alpha1"
	"github.com/penstock-dev/penstock/internal/compile"
	"github.com/penstock-dev/penstock/internal/ruleset"
)

const (
	kindPolicy        = compile.KindRateLimitPolicy
	kindClusterPolicy = "ClusterRateLimitPolicy"
	defaultNamespace  = "default"
)

// loaded are policy files in compiled form.
type loaded struct {
	documents []*document
	ruleSet   *ruleset.RuleSet
	// warnings are what people should know of policies that are valid.
	warnings []error
}

// loadPolicies reads and compiles policy files. All policies are of one namespace:
// the given one, or if that is empty the one that they name, else "default". There
// are no pods, so every policy is for every request.
func loadPolicies(files []string, namespace string) (*loaded, error) {
	l := &loaded{}
	var problems []error
	for _, file := range files {
		documents, err := readPolicies(file)
		problems = append(problems, err)
		l.documents = append(l.documents, documents...)
	}
	if err := errors.Join(problems...); errors.Is(err, errUnreadable) {
		return nil, err
	} else if err != nil {
		return nil, fmt.Errorf("%w:\n%w", errInvalidPolicy, err)
	}
	namespace, err := l.settleNames(namespace)
	if err == nil {
		err = l.compile(namespace)
	}
	if err != nil {
		return nil, fmt.Errorf("%w:\n%w", errInvalidPolicy, err)
	}
	return l, nil
}

// settleNames wants each policy to have a name of its own and all to be of one
// namespace, which it returns.
func (l *loaded) settleNames(namespace string) (string, error) {
	var problems []error
	seen := make(map[string]bool)
	for _, d := range l.documents {
		metadata := &d.policy.ObjectMeta
		if len(validation.IsDNS1123Subdomain(metadata.Name)) > 0 {
			problems = append(problems, d.problem("metadata.name", fmt.Sprintf("%q is not a name: write lower case letters, digits, hyphens and dots", metadata.Name)))
		}
		if seen[metadata.Name] {
			problems = append(problems, d.problem("metadata.name", fmt.Sprintf("%q is the name of a policy before this one: give this one another", metadata.Name)))
		}
		seen[metadata.Name] = true
		if namespace == "" {
			namespace = metadata.Namespace
		}
		if metadata.Namespace != "" && metadata.Namespace != namespace {
			problems = append(problems, d.problem("metadata.namespace", fmt.Sprintf("is %q, but another policy or --namespace says %q: run one namespace at a time", metadata.Namespace, namespace)))
		}
	}
	if namespace == "" {
		namespace = defaultNamespace
	}
	return namespace, errors.Join(problems...)
}

func (l *loaded) compile(namespace string) error {
	in := compile.Input{Namespace: namespace, Targets: make(map[compile.Target]compile.Resolved)}
	for _, d := range l.documents {
		d.policy.Namespace, d.policy.Generation = namespace, 1
		in.Policies = append(in.Policies, d.policy)
	}
	// Targets cannot be looked up here: any selector stands for them.
	for _, target := range compile.Targets(in.Policies) {
		in.Targets[target] = compile.Resolved{Selector: ruleset.Selector{MatchLabels: map[string]string{"name": target.Name}}}
	}
	out := compile.Namespace(in)
	var problems []error
	for _, d := range l.documents {
		for _, problem := range out.Policies[d.policy.Name].Problems {
			told := d.problem(problem.Field, messageOf(problem))
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
