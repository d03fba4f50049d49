// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package controllers_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/onsi/gomega"
)

const (
	// patience bounds a wait for something that an event should bring about: far
	// longer than it takes, since tests share a slow machine.
	patience = 20 * time.Second
	look     = 50 * time.Millisecond
)

// eventually waits until get returns want.
func eventually[T any](t *testing.T, what string, get func() T, want T) {
	t.Helper()
	within(t, patience, what, get, want)
}

// within waits until get returns want, and fails after a time.
func within[T any](t *testing.T, limit time.Duration, what string, get func() T, want T) {
	t.Helper()
	g := gomega.NewWithT(t)
	g.Eventually(func() string { return cmp.Diff(want, get()) }, limit, look).
		WithContext(t.Context()).Should(gomega.BeEmpty(), "%s (-want +got)", what)
}
