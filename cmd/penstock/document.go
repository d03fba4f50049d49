// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"errors"
	"fmt"
	"slices"

	"go.yaml.in/yaml/v3"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/penstock-dev/penstock/api/v1alpha1"
)

// document is one object of a file. Of its kinds that one is set which it is; none is if
// that is not known.
type document struct {
	file   string
	head   head
	policy *v1alpha1.RateLimitPolicy
	store  *v1alpha1.RateLimitStore
	// cluster is a policy of the cluster.
	cluster *v1alpha1.ClusterRateLimitPolicy
	shape   *shape
}

// readDocument reads an object strictly: a field that does not exist, or stands there
// twice, is a fault. What is at fault is kept out of the object, or mended. So many lines
// of the file are before the first that the node knows of.
func readDocument(file string, before int, node *yaml.Node) *document {
	d := &document{file: file, shape: newShape(before)}
	d.shape.note("", node)
	if node.Kind != yaml.MappingNode {
		d.fault("", "a document must be an object with apiVersion, kind, metadata and spec")
		return d
	}
	d.shape.noteFields(node)
	d.head = headOf(node)
	d.checkHead()
	if d.head.isForeign() {
		return d
	}
	var err error
	switch d.head.meantKind() {
	case kindPolicy:
		d.policy = &v1alpha1.RateLimitPolicy{}
		err = d.shape.fill(node, d.policy)
	case kindStore:
		d.store = &v1alpha1.RateLimitStore{}
		err = d.shape.fill(node, d.store)
	case kindClusterPolicy:
		d.cluster = &v1alpha1.ClusterRateLimitPolicy{}
		err = d.shape.fill(node, d.cluster)
	}
	if err != nil {
		d.fault("", "cannot be read: %v", err)
	}
	return d
}

// metadata is that of the object; nil if it is of no kind of Penstock.
func (d *document) metadata() *metav1.ObjectMeta {
	switch {
	case d.policy != nil:
		return &d.policy.ObjectMeta
	case d.store != nil:
		return &d.store.ObjectMeta
	case d.cluster != nil:
		return &d.cluster.ObjectMeta
	default:
		return nil
	}
}

// fault adds to what is wrong with how the document is written.
func (d *document) fault(field, format string, args ...any) {
	d.shape.mended(d.shape.lineOf(field), field, format, args...)
}

// faults are what is wrong with how the document is written, with file and line.
func (d *document) faults() error {
	told := make([]error, len(d.shape.faults))
	for i, fault := range d.shape.faults {
		told[i] = fileError(d.file, fault)
	}
	return errors.Join(told...)
}

// problem is an error of a field of the document, with file and line. It is nil if it may
// follow from a fault alone.
func (d *document) problem(field, format string, args ...any) error {
	if slices.ContainsFunc(d.shape.unmended, func(faulty string) bool { return hides(faulty, field) }) {
		return nil
	}
	return d.at(field, fmt.Errorf(format, args...))
}

// at puts file, line and field before an error.
func (d *document) at(field string, err error) error {
	return fileError(d.file, &lineError{line: d.shape.lineOf(field), field: field, err: err})
}

// notForRun says why a document that is no policy of a namespace cannot be run; nil if its
// faults say so.
func (d *document) notForRun() error {
	switch {
	case d.store != nil:
		return d.at(kindField, errors.New("is "+kindStore+", which is not read here: name a Redis with --store, and keep this in another file"))
	case d.cluster != nil:
		return d.at(kindField, errors.New("is "+kindClusterPolicy+", which Penstock has but does not enforce yet: until it does, write a "+kindPolicy+" with these rules in each namespace"))
	default:
		return nil
	}
}
