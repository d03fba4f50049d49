// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"

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
func loadPolicies(ctx context.Context, files []string, namespace string) (*loaded, error) {
	l := &loaded{}
	var problems []error
	for _, file := range files {
		documents, err := readPolicies(ctx, file)
		problems = append(problems, err)
		for _, d := range documents {
			if d.policy == nil {
				problems = append(problems, d.notForRun())
				continue
			}
			l.documents = append(l.documents, d)
		}
	}
	namespace, kept, err := oneNamespace(l.documents, namespace)
	problems = append(problems, err, checkNames(kept))
	l.ruleSet, l.warnings, err = compileNamespace(namespace, kept)
	if err := invalid(files, append(problems, err)...); err != nil {
		return nil, err
	}
	return l, nil
}

// invalid says in order what is wrong in files; it is nil if nothing is.
func invalid(files []string, problems ...error) error {
	switch err := inOrder(files, problems...); {
	case err == nil:
		return nil
	case onlyUnreadable(err):
		return err
	default:
		return fmt.Errorf("%w:\n%w", errInvalidPolicy, err)
	}
}

// onlyUnreadable reports whether nothing is wrong but that files cannot be read.
func onlyUnreadable(err error) bool {
	return !slices.ContainsFunc(flatten(nil, err), func(p *fileProblem) bool { return !errors.Is(p, errUnreadable) })
}

// oneNamespace wants all policies to be of one namespace. It returns that, and the
// policies of which this holds.
func oneNamespace(documents []*document, namespace string) (string, []*document, error) {
	var problems []error
	var kept []*document
	for _, d := range documents {
		own := d.policy.Namespace
		namespace = cmp.Or(namespace, own)
		if own != "" && own != namespace {
			problems = append(problems, d.problem("metadata.namespace", "is %q, but another policy or --namespace says %q: run one namespace at a time", own, namespace))
			continue
		}
		kept = append(kept, d)
	}
	return cmp.Or(namespace, defaultNamespace), kept, errors.Join(problems...)
}

// compileNamespace compiles the policies of a namespace, whose names are settled. It
// returns warnings and errors apart.
func compileNamespace(namespace string, documents []*document) (*ruleset.RuleSet, []error, error) {
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
	var warnings, problems []error
	for _, d := range documents {
		warned, err := d.tell(out.Policies[d.policy.Name].Problems)
		warnings, problems = append(warnings, warned...), append(problems, err)
	}
	for i := range out.RuleSet.Policies {
		out.RuleSet.Policies[i].Selectors = []ruleset.Selector{{}}
	}
	return out.RuleSet, warnings, errors.Join(problems...)
}

// tell says of problems of a document where they are, of warnings and errors apart.
func (d *document) tell(problems []v1alpha1.Problem) (warnings []error, err error) {
	var told []error
	for _, problem := range problems {
		switch one := d.problem(problem.Field, "%s", messageOf(problem)); {
		case one == nil:
		case compile.IsWarning(problem):
			warnings = append(warnings, one)
		default:
			told = append(told, one)
		}
	}
	return warnings, errors.Join(told...)
}

// warn prints warnings, one a line, in order.
func warn(to io.Writer, files []string, warnings []error) {
	problems := flatten(nil, errors.Join(warnings...))
	sortProblems(files, problems)
	for _, warning := range problems {
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
