// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"runtime/debug"
	"testing"
)

func TestVersionIsThatOfTheModuleWhereNoneIsStamped(t *testing.T) {
	t.Parallel()
	for of, want := range map[string]string{"v0.2.0": "v0.2.0", "(devel)": unknownVersion, "": unknownVersion} {
		if got := versionOf(&debug.BuildInfo{Main: debug.Module{Version: of}}, true); got != want {
			t.Errorf("version of module %q is %q, want %q", of, got, want)
		}
	}
	if got := versionOf(nil, false); got != unknownVersion {
		t.Errorf("version without any information is %q, want %q", got, unknownVersion)
	}
}
