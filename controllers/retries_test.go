// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package controllers

import "testing"

func TestRetriesAreNeverFurtherApartThanPolls(t *testing.T) {
	t.Parallel()
	limiter := retries()
	if first := limiter.When(namespaceRequest("shop")); first > poll/10 {
		t.Errorf("the first retry is after %s, want it soon", first)
	}
	for range 50 {
		if wait := limiter.When(namespaceRequest("shop")); wait > poll {
			t.Fatalf("a retry is after %s, want at most %s", wait, poll)
		}
	}
}
