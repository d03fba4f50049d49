// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/penstock-dev/penstock/api/v1alpha1"
	"github.com/penstock-dev/penstock/internal/compile"
)

// checking is what check has found so far.
type checking struct {
	// files are in the order in which they were read.
	files     []string
	documents []*document
	problems  []error
	warnings  []error
	// policies, stores, namespaces and rules count what there is, and skipped what is not
	// Penstock's.
	policies, stores, namespaces, rules, skipped int
}

// read reads what an argument names.
func (c *checking) read(ctx context.Context, argument string) {
	if argument == "-" {
		c.readMixed(ctx, standardInput, []string{standardInput})
		return
	}
	if argument != "" {
		argument = filepath.Clean(argument)
	}
	if info, err := os.Stat(argument); err == nil && info.IsDir() {
		c.files = append(c.files, argument)
		files, err := filesIn(argument)
		if err != nil {
			c.problems = append(c.problems, err)
			return
		}
		c.readMixed(ctx, argument, files)
		return
	}
	if !c.isNew(argument) {
		return
	}
	documents, err := readPolicies(ctx, argument)
	c.problems = append(c.problems, err)
	c.documents = append(c.documents, documents...)
}

// isNew remembers a file, unless it is read already.
func (c *checking) isNew(file string) bool {
	if slices.Contains(c.files, file) {
		return false
	}
	c.files = append(c.files, file)
	return true
}

// readMixed reads files in which objects of others may be, which are skipped. Something of
// Penstock is expected in what they are found in.
func (c *checking) readMixed(ctx context.Context, in string, files []string) {
	documentsBefore, problemsBefore := len(c.documents), len(c.problems)
	for _, file := range files {
		if !c.isNew(file) {
			continue
		}
		text, err := readWhole(ctx, file)
		if err != nil {
			c.problems = append(c.problems, err)
			continue
		}
		documents, broken := parse(file, text)
		if len(broken) > 0 && !isAboutPenstock(text) {
			broken = nil
			c.skipped++
		}
		c.problems = append(c.problems, broken...)
		for _, d := range documents {
			if !d.head.isOurs() {
				c.skipped++
				continue
			}
			c.problems = append(c.problems, d.faults())
			c.documents = append(c.documents, d)
		}
	}
	if len(c.documents) == documentsBefore && len(c.problems) == problemsBefore {
		c.problems = append(c.problems, fileError(in, errors.New("has no policy: name files that have one")))
	}
}

// isAboutPenstock reports whether a text that cannot be read may have objects of Penstock.
func isAboutPenstock(text []byte) bool {
	return checkEncoding(text) != nil || bytes.Contains(text, []byte(v1alpha1.Group)) ||
		slices.ContainsFunc(ourKinds, func(kind string) bool { return bytes.Contains(text, []byte(kind)) })
}

// check checks what was read, each namespace by itself. The error is of all that is wrong.
func (c *checking) check() error {
	together := make(map[string][]*document)
	var groups []string
	for _, d := range c.documents {
		if d.metadata() == nil {
			continue
		}
		group := d.group()
		if together[group] == nil {
			groups = append(groups, group)
		}
		together[group] = append(together[group], d)
	}
	for _, group := range groups {
		documents := together[group]
		c.problems = append(c.problems, checkNames(documents))
		if documents[0].policy != nil {
			c.namespaces++
			c.checkPolicies(documents)
			continue
		}
		for _, d := range documents {
			c.checkAlone(d)
		}
	}
	return invalid(c.files, c.problems...)
}

// group names what a document is checked with: names are unique in it.
func (d *document) group() string {
	if d.policy != nil {
		return kindPolicy + "/" + d.policy.Namespace
	}
	return d.head.meantKind()
}

// checkPolicies checks policies of a namespace.
func (c *checking) checkPolicies(documents []*document) {
	ruleSet, warnings, err := compileNamespace(cmp.Or(documents[0].policy.Namespace, defaultNamespace), documents)
	c.warnings, c.problems = append(c.warnings, warnings...), append(c.problems, err)
	c.policies += len(documents)
	for _, policy := range ruleSet.Policies {
		c.rules += len(policy.Rules)
	}
}

// checkAlone checks an object of the cluster.
func (c *checking) checkAlone(d *document) {
	if d.store != nil {
		c.stores++
		_, err := d.tell(compile.Store(d.store))
		c.problems = append(c.problems, err)
		return
	}
	for _, problem := range compile.ClusterPolicy(d.cluster) {
		// It holds whatever else is wrong.
		c.problems = append(c.problems, d.at(problem.Field, errors.New(messageOf(problem))))
	}
	if d.cluster.Spec.NamespaceSelector == nil {
		c.problems = append(c.problems, d.problem("spec.namespaceSelector", "is missing: select namespaces by their labels; {} is every namespace with injection"))
	}
	// Its rules are those of a policy for the same pods.
	alike := &v1alpha1.RateLimitPolicy{ObjectMeta: metav1.ObjectMeta{Name: d.cluster.Name}}
	alike.Spec.Selector, alike.Spec.PolicyRules = cmp.Or(d.cluster.Spec.Selector, &metav1.LabelSelector{}), d.cluster.Spec.PolicyRules
	_, warnings, err := compileNamespace(defaultNamespace, []*document{{file: d.file, shape: d.shape, policy: alike}})
	c.warnings, c.problems = append(c.warnings, warnings...), append(c.problems, err)
}
