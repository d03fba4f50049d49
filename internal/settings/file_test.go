// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package settings

import (
	"encoding/json"
	"errors"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// sample are settings of each kind.
type sample struct {
	Name   string
	Wait   time.Duration
	Count  int
	Size   int
	Quick  bool
	Labels []string
	Object map[string]int
	Config string
}

type object struct{ to *map[string]int }

func (o object) String() string { return "" }

func (o object) Set(text string) error {
	if err := json.Unmarshal([]byte(text), o.to); err != nil {
		return errors.New("want a JSON object")
	}
	return nil
}

func newSample() (*sample, *Groups) {
	s, groups := &sample{Name: "web", Wait: 11 * time.Minute, Size: 64 << 10}, &Groups{}
	first := groups.Group("First")
	first.Var(Text(&s.Name), "name", "`NAME` of it")
	first.Var(Duration(&s.Wait), "wait", "how `LONG` it waits")
	second := groups.Group("Second")
	second.Var(Int(&s.Count, 0, 10), "count", "`NUMBER` of them")
	second.Var(Size(&s.Size, 1, 1<<20), "size", "`BYTES` of it")
	second.Var(Switch(&s.Quick), "quick", "be quick")
	second.Var(List(&s.Labels), "label", "`LABEL`; repeatable")
	second.Var(object{to: &s.Object}, "object", "`JSON`")
	second.Var(Text(&s.Config), FileFlag, "`FILE`")
	return s, groups
}

func TestReadFile(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		file, given string
		want        *sample
		wantErr     string
	}{
		"each kind": {
			file: `{"name":"api","wait":"1m30s","count":3,"size":"128KiB","quick":true,"label":["a","b"],"object":{"x":1}}`,
			want: &sample{Name: "api", Wait: 90 * time.Second, Count: 3, Size: 128 << 10, Quick: true, Labels: []string{"a", "b"}, Object: map[string]int{"x": 1}},
		},
		"nothing":                          {file: `{}`, want: &sample{Name: "web", Wait: 11 * time.Minute, Size: 64 << 10}},
		"the command line wins":            {file: `{"name":"api","count":3}`, given: "name", want: &sample{Name: "web", Wait: 11 * time.Minute, Size: 64 << 10, Count: 3}},
		"one of a list":                    {file: `{"label":"a"}`, want: &sample{Name: "web", Wait: 11 * time.Minute, Size: 64 << 10, Labels: []string{"a"}}},
		"unknown":                          {file: `{"nam":"api"}`, wantErr: `setting "nam" is unknown`},
		"written as a flag":                {file: `{"--name":"api"}`, wantErr: `setting "--name": write it without dashes before it: "name"`},
		"twice":                            {file: `{"name":"a","name":"b"}`, wantErr: `setting "name" is there twice`},
		"null":                             {file: `{"name":null}`, wantErr: `setting "name": null is no value`},
		"a list for one":                   {file: `{"name":["a","b"]}`, wantErr: `setting "name" takes one value, the list has 2`},
		"lists in lists":                   {file: `{"label":[["a"]]}`, wantErr: "a list in a list"},
		"another file":                     {file: `{"config":"x"}`, wantErr: "a file cannot name another one"},
		"out of range":                     {file: `{"count":11}`, wantErr: `setting "count": value "11": want a whole number from 0 to 10`},
		"no time":                          {file: `{"wait":"0s"}`, wantErr: `setting "wait": value "0s": want a time above zero`},
		"no size":                          {file: `{"size":"2MiB"}`, wantErr: "want a size from 1 to 1MiB"},
		"no switch":                        {file: `{"quick":"perhaps"}`, wantErr: "want true or false"},
		"bad even where the command wins":  {file: `{"name":null}`, given: "name", wantErr: "null is no value"},
		"several are told at once":         {file: `{"count":11,"nam":"x"}`, wantErr: `setting "nam" is unknown`},
		"no object":                        {file: `[]`, wantErr: "want a JSON object"},
		"empty":                            {file: ``, wantErr: "want a JSON object"},
		"cut short":                        {file: `{"name":"a"`, wantErr: "read JSON"},
		"more after it":                    {file: `{} {}`, wantErr: "there is more after"},
		"a value that does not hold as is": {file: `{"object":{"x":"y"}}`, wantErr: "want a JSON object"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			path := filepath.Join(t.TempDir(), "settings.json")
			if err := os.WriteFile(path, []byte(tc.file), 0o600); err != nil {
				t.Fatal(err)
			}
			got, groups := newSample()
			err := ReadFile(path, groups.FlagSet("sample"), func(name string) bool { return name == tc.given })
			if tc.wantErr != "" {
				if err == nil || !strings.Contains(err.Error(), tc.wantErr) || !strings.Contains(err.Error(), path) {
					t.Errorf("error is %v, want one that names the file and says %q", err, tc.wantErr)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("settings (-want +got):\n%s", diff)
			}
		})
	}
}

func TestReadFileNamesAFileThatIsMissing(t *testing.T) {
	t.Parallel()
	_, groups := newSample()
	err := ReadFile("missing.json", groups.FlagSet("sample"), func(string) bool { return false })
	if err == nil || !strings.Contains(err.Error(), "flag --config") || !strings.Contains(err.Error(), "missing.json") {
		t.Errorf("error is %v, want one that names the flag and the file", err)
	}
}

func TestFlagsAreThoseOfTheGroups(t *testing.T) {
	t.Parallel()
	got, groups := newSample()
	set := groups.FlagSet("sample")
	if err := set.Parse([]string{"--quick", "--label=a", "--label", "b", "--size=1MiB", "--count=0"}); err != nil {
		t.Fatal(err)
	}
	want := &sample{Name: "web", Wait: 11 * time.Minute, Size: 1 << 20, Quick: true, Labels: []string{"a", "b"}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("settings (-want +got):\n%s", diff)
	}
	if err := set.Parse([]string{"--count=ten"}); err == nil || !strings.Contains(err.Error(), `invalid value "ten" for flag -count: want a whole number`) {
		t.Errorf("error is %v", err)
	}
}

func TestWriteHelp(t *testing.T) {
	t.Parallel()
	s, groups := &sample{Name: "web", Wait: 11 * time.Minute}, &Groups{}
	one := groups.Group("First things")
	one.Var(Text(&s.Name), "name", "`NAME` of it, which is told at some length so that the line of this help gets too long for most screens")
	one.Var(Switch(&s.Quick), "quick", "be quick")
	groups.Group("Then").Var(Duration(&s.Wait), "wait", "how `LONG` it waits")
	var text strings.Builder
	groups.WriteHelp(&text)
	want := `
First things:
  --name=NAME
      NAME of it, which is told at some length so that the line of this help gets too long for most
      screens (absent: web)
  --quick
      be quick

Then:
  --wait=LONG
      how LONG it waits (absent: 11m)
`
	if diff := cmp.Diff(want, text.String()); diff != "" {
		t.Errorf("help (-want +got):\n%s", diff)
	}
	groups.All(func(f *flag.Flag) {
		if f.Usage == "" {
			t.Errorf("flag %s has no help", f.Name)
		}
	})
}
