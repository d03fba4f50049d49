// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package compile

import (
	"errors"
	"regexp"
	"strconv"
	"strings"
)

// defaultLoosenessMilli is a looseness of 1.5 in thousandths.
const defaultLoosenessMilli = 1500

var (
	decimal = regexp.MustCompile(`^[0-9]{1,3}(\.[0-9]{1,3})?$`)

	errLooseness = errors.New("is not a looseness: write a decimal number from 0.001 to 999.999 with at most three decimals, such as 1.5")
)

// parseLooseness reads a decimal number exactly, in thousandths.
func parseLooseness(text string) (int64, error) {
	if !decimal.MatchString(text) {
		return 0, errLooseness
	}
	whole, fraction, _ := strings.Cut(text, ".")
	digits := whole + (fraction + "000")[:3]
	milli, err := strconv.ParseInt(digits, 10, 64)
	if err != nil || milli == 0 {
		return 0, errLooseness
	}
	return milli, nil
}
