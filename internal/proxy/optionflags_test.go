// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package proxy

import (
	"flag"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/penstock-dev/penstock/internal/settings"
)

// TestEveryBoundIsAFlag gives each flag another value than its default, and looks
// whether every bound has changed.
func TestEveryBoundIsAFlag(t *testing.T) {
	t.Parallel()
	var options Options
	groups := &settings.Groups{}
	options.AddFlags(groups)
	defaults := Bounds{}.withDefaults()
	if diff := cmp.Diff(defaults, options.Bounds); diff != "" {
		t.Errorf("bounds before parsing (-want +got):\n%s", diff)
	}
	groups.All(func(f *flag.Flag) {
		for _, other := range []string{"1234ms", "77777", "77", "Preserve", "web/all"} {
			if f.Value.Set(other) == nil {
				return
			}
		}
		t.Errorf("flag --%s takes none of the values of this test: add one", f.Name)
	})
	got, was := reflect.ValueOf(options.Bounds), reflect.ValueOf(defaults)
	for i := range got.NumField() {
		if got.Field(i).Interface() == was.Field(i).Interface() {
			t.Errorf("no flag sets bound %s", got.Type().Field(i).Name)
		}
	}
	if !options.PreserveForwardedFor || options.NoRulesWait != 1234*time.Millisecond || options.RefusalLogsPerSecond != 77777 {
		t.Errorf("options are %+v", options)
	}
}

func TestCheckNamesContradictions(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		arguments []string
		want      string // empty: none
	}{
		"defaults":       {},
		"key labels":     {arguments: []string{"--key-labels=web/all,cluster/floor/all", "--key-labels=api/all", "--key-label-series=5"}},
		"series alone":   {arguments: []string{"--key-label-series=5"}, want: "--key-labels"},
		"stream buffer":  {arguments: []string{"--http2-stream-buffer-bytes=2MiB"}, want: "--http2-connection-buffer-bytes"},
		"no rule":        {arguments: []string{"--key-labels=web"}, want: "want POLICY/RULE"},
		"empty rule":     {arguments: []string{"--key-labels=web/"}, want: "want POLICY/RULE"},
		"forwarded for":  {arguments: []string{"--forwarded-for=preserve"}, want: "want Append or Preserve"},
		"too many rules": {arguments: []string{"--key-labels=" + strings.Repeat("web/all,", mostKeyLabels) + "web/all"}, want: "at most 100"},
		"negative":       {arguments: []string{"--refusal-logs-per-second=-1"}, want: "from 0 to"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var options Options
			groups := &settings.Groups{}
			options.AddFlags(groups)
			err := groups.FlagSet("test").Parse(tc.arguments)
			if err == nil {
				err = options.Check()
			}
			if (err != nil) != (tc.want != "") || err != nil && !strings.Contains(err.Error(), tc.want) {
				t.Errorf("error is %v, want %q", err, tc.want)
			}
		})
	}
}
