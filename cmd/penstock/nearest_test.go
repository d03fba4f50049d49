// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"strings"
	"testing"
)

func TestNearestName(t *testing.T) {
	t.Parallel()
	known := []string{"limits", "matches", "statusCodes", "name", "window"}
	for name, want := range map[string]string{
		"limit": "limits", "windwo": "window", "status_codes": "statusCodes", "StatusCode": "statusCodes", "naem": "name",
		"match": "matches", "foo": "", "": "", "-": "", strings.Repeat("limits", 100): "",
	} {
		if got := nearest(name, known); got != want {
			t.Errorf("nearest to %q is %q, want %q", name, got, want)
		}
	}
}
