// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"errors"
	"fmt"

	"k8s.io/apimachinery/pkg/util/validation"
)

// checkNames wants each document, of one kind and namespace, to have a name of its own. One
// without gets another, so that what else is wrong in it can be told.
func checkNames(documents []*document) error {
	var problems []error
	first := make(map[string]*document)
	for i, d := range documents {
		metadata := d.metadata()
		name, before := metadata.Name, first[metadata.Name]
		switch {
		case name == "":
			problems = append(problems, d.problem("metadata.name", "is missing: write one, such as metadata: {name: web}"))
		case len(validation.IsDNS1123Subdomain(name)) > 0:
			problems = append(problems, d.problem("metadata.name", "%q is not a name: write lower case letters, digits, hyphens and dots", name))
		case before != nil:
			problems = append(problems, d.problem("metadata.name", "%q is the name of another one at %s:%d: give this one another", name, before.file, before.shape.lineOf("metadata.name")))
		default:
			first[name] = d
			continue
		}
		// No object can have this name.
		metadata.Name = fmt.Sprintf("document %d", i)
	}
	return errors.Join(problems...)
}
