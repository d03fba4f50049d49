// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package settings

import (
	"errors"
	"flag"
	"regexp"
)

// flagName finds the name of the flag in errors of package flag, which writes it with
// one dash. A value that an error repeats is quoted, so nothing in it is taken for one.
var flagName = regexp.MustCompile(`^(invalid (?:boolean )?value "(?:[^"\\]|\\.)*" for (?:flag )?|flag provided but not defined: |flag needs an argument: )-`)

// Parse reads a command line. Its errors name flags as help does, with two dashes.
func Parse(set *flag.FlagSet, arguments []string) error {
	err := set.Parse(arguments)
	if err == nil || errors.Is(err, flag.ErrHelp) {
		return err
	}
	return errors.New(flagName.ReplaceAllString(err.Error(), "${1}--"))
}
