// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestParseLabels(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		content string
		want    map[string]string
		wantErr string
	}{
		"empty":      {want: map[string]string{}},
		"some":       {content: "app=\"web\"\npenstock.dev/inject=\"true\"\nempty=\"\"", want: map[string]string{"app": "web", "penstock.dev/inject": "true", "empty": ""}},
		"escapes":    {content: `note="a \"b\" \\ \u00e9"` + "\r\n", want: map[string]string{"note": "a \"b\" \\ é"}},
		"equals":     {content: `a="b=c"`, want: map[string]string{"a": "b=c"}},
		"not quoted": {content: "app=web", wantErr: "line 1"},
		"no equals":  {content: "a=\"b\"\nweb", wantErr: "line 2"},
		"no key":     {content: `="web"`, wantErr: "line 1"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, err := parseLabels(tc.content)
			if tc.wantErr != "" {
				if err == nil || !strings.Contains(err.Error(), tc.wantErr) {
					t.Errorf("error %v, want one that names %q", err, tc.wantErr)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("labels (-want +got):\n%s", diff)
			}
		})
	}
}
