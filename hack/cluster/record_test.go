// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"os"
	"testing"
)

func TestParseRecord(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		text string
		want record
	}{
		"whole":            {"4711 900 /src/pen stock\n", record{PID: 4711, Started: "900", Root: "/src/pen stock"}},
		"empty":            {"", record{}},
		"not to its end":   {"4711 900 /src", record{}},
		"without checkout": {"4711 900\n", record{}},
		"no process id":    {"x 900 /src\n", record{}},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := parseRecord(tc.text); got != tc.want {
				t.Errorf("parseRecord(%q) = %+v, want %+v", tc.text, got, tc.want)
			}
		})
	}
}

func TestRecordIsOfOneProcess(t *testing.T) {
	t.Parallel()
	started, err := startOf(os.Getpid())
	if err != nil {
		t.Fatal(err)
	}
	tests := map[string]struct {
		record record
		want   bool
	}{
		"this process":           {record{PID: os.Getpid(), Started: started}, true},
		"its id, used again":     {record{PID: os.Getpid(), Started: started + "1"}, false},
		"none":                   {record{}, false},
		"the machine's first":    {record{PID: 1, Started: "0"}, false},
		"an id out of the range": {record{PID: 1 << 30, Started: started}, false},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := tc.record.alive(); got != tc.want {
				t.Errorf("alive() = %t, want %t", got, tc.want)
			}
		})
	}
}

func TestStartField(t *testing.T) {
	t.Parallel()
	const rest = " 1 1 1 0 -1 4194560 1 0 0 0 0 0 0 0 20 0 1 0 90817 1000 10\n"
	tests := map[string]struct {
		stat, want string
		wantErr    bool
	}{
		"plain":                   {stat: "7 (node) S" + rest, want: "90817"},
		"parentheses in the name": {stat: "7 (a) (b c) S" + rest, want: "90817"},
		"ended":                   {stat: "7 (node) Z" + rest, wantErr: true},
		"cut off":                 {stat: "7 (node) S 1 1", wantErr: true},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, err := startField(tc.stat)
			if got != tc.want || (err != nil) != tc.wantErr {
				t.Errorf("startField() = %q, %v, want %q, error: %t", got, err, tc.want, tc.wantErr)
			}
		})
	}
}
