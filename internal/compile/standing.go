// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package compile

import (
	"cmp"
	"maps"
	"slices"

	"github.com/penstock-dev/penstock/internal/ruleset"
)

// standing are forms that are in force together, by name of the policy.
type standing struct {
	byName map[string]*ruleset.Policy
	// byKey are the names of the policies with a limit of each key.
	byKey map[string]string
}

func newStanding() *standing {
	return &standing{byName: make(map[string]*ruleset.Policy), byKey: make(map[string]string)}
}

// put replaces the form of a policy; nil is none.
func (s *standing) put(name string, form *ruleset.Policy) {
	if form == nil {
		return
	}
	s.byName[name] = form
	for limit := range limitsOf(form) {
		for _, key := range keysOf(&limit) {
			s.byKey[key] = name
		}
	}
}

// forms are all forms, by name.
func (s *standing) forms() []*ruleset.Policy {
	forms := make([]*ruleset.Policy, 0, len(s.byName))
	for _, name := range slices.Sorted(maps.Keys(s.byName)) {
		forms = append(forms, s.byName[name])
	}
	return forms
}

// neighbours are the form and, without the one that it replaces, all forms with
// which it can share a pod or the key of a limit.
func (s *standing) neighbours(form *ruleset.Policy) []*ruleset.Policy {
	sharesKey := make(map[string]bool)
	for limit := range limitsOf(form) {
		for _, key := range keysOf(&limit) {
			sharesKey[s.byKey[key]] = true
		}
	}
	near := []*ruleset.Policy{form}
	for name, other := range s.byName {
		if name != form.Name && (sharesKey[name] || mayShareAPod(form.Selectors, other.Selectors)) {
			near = append(near, other)
		}
	}
	slices.SortFunc(near, func(a, b *ruleset.Policy) int { return cmp.Compare(a.Name, b.Name) })
	return near
}
