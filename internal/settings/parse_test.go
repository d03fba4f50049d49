// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package settings

import (
	"errors"
	"flag"
	"testing"
)

// TestErrorsOfFlagsHaveTwoDashes has them name flags as help does.
func TestErrorsOfFlagsHaveTwoDashes(t *testing.T) {
	t.Parallel()
	for argument, want := range map[string]string{
		"--count=ten":                   `invalid value "ten" for flag --count: want a whole number from 0 to 10`,
		"-count=ten":                    `invalid value "ten" for flag --count: want a whole number from 0 to 10`,
		`--count=" for flag -name: x`:   `invalid value "\" for flag -name: x" for flag --count: want a whole number from 0 to 10`,
		"--quick=perhaps":               `invalid boolean value "perhaps" for --quick: want true or false`,
		"--cuont=1":                     "flag provided but not defined: --cuont",
		"--name":                        "flag needs an argument: --name",
		"---name=a":                     "bad flag syntax: ---name=a",
		"--wait=" + "1m -- for -flag x": `invalid value "1m -- for -flag x" for flag --wait: want a time above zero, such as 30s, 1500ms or 5m`,
	} {
		_, groups := newSample()
		if err := Parse(groups.FlagSet("sample"), []string{argument}); err == nil || err.Error() != want {
			t.Errorf("%s: error %v, want %s", argument, err, want)
		}
	}
	_, groups := newSample()
	if err := Parse(groups.FlagSet("sample"), []string{"--help"}); !errors.Is(err, flag.ErrHelp) {
		t.Errorf("--help: %v", err)
	}
}
