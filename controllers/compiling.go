// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package controllers

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/penstock-dev/penstock/api/v1alpha1"
	"github.com/penstock-dev/penstock/internal/compile"
	"github.com/penstock-dev/penstock/internal/store"
)

// compiled brings the memory's rule set up to date with the scope. Compiling is
// left out where nothing changed that it depends on: most passes only look at acks.
func (r *NamespaceReconciler) compiled(ctx context.Context, s *scope, m *memory) (compile.Output, error) {
	targets, err := resolveTargets(ctx, r.reader, s)
	if err != nil {
		return compile.Output{}, err
	}
	inputs, err := nameInputs(s, targets)
	if err != nil {
		return compile.Output{}, err
	}
	if m.inputs == inputs {
		return m.compiled, nil
	}
	identityKey, err := r.identity.Key(ctx, s.namespace.UID)
	if err != nil {
		return compile.Output{}, err
	}
	m.compiled = compile.Namespace(compile.Input{
		Namespace:   s.name,
		IdentityKey: identityKey,
		Store:       storeName(s.namespace),
		Policies:    s.policies,
		Targets:     targets,
		Previous:    m.published,
	})
	m.inputs = inputs
	return m.compiled, nil
}

// nameInputs names all that a compilation depends on, but for the form in force,
// which a compilation that is published leaves as it is.
func nameInputs(s *scope, targets map[compile.Target]compile.Resolved) (string, error) {
	type input struct {
		UID, Name  string
		Generation int64
		Deleted    bool
	}
	type target struct {
		Target   compile.Target
		Found    bool
		Resolved compile.Resolved
	}
	all := struct {
		Namespace, Store string
		Policies         []input
		Targets          []target
	}{Namespace: string(s.namespace.UID), Store: storeName(s.namespace)}
	for _, policy := range s.policies {
		all.Policies = append(all.Policies, input{string(policy.UID), policy.Name, policy.Generation, policy.DeletionTimestamp != nil})
	}
	for _, named := range compile.Targets(s.policies) {
		resolved, found := targets[named]
		all.Targets = append(all.Targets, target{named, found, resolved})
	}
	encoded, err := json.Marshal(all)
	if err != nil {
		return "", fmt.Errorf("name the inputs of namespace %q: %w", s.name, err)
	}
	return string(encoded), nil
}

// inForce corrects a policy's result to what really is in force: a form that could
// not be published is not. It also tells whether the form stands in the store.
func inForce(result compile.PolicyResult, m *memory, name string) (compile.PolicyResult, bool) {
	published := m.publishedPolicy(name)
	if result.Disabled || result.ActiveGeneration == 0 {
		if published == nil {
			return result, m.published != nil
		}
	} else if published != nil && published.Revision == result.Revision {
		return result, true
	}
	// The form waits for the store. What it replaces stays in force until then.
	result.ActiveGeneration, result.Revision, result.Selectors, result.Disabled = 0, "", nil, false
	if published != nil {
		result.ActiveGeneration, result.Revision = published.Generation, published.Revision
		result.Selectors = published.Selectors
	}
	return result, false
}

// policyKey names a policy in what the store knows.
func policyKey(policy *v1alpha1.RateLimitPolicy) string {
	return store.PolicyKey(compile.KindRateLimitPolicy, policy.Name)
}
