// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package compile

import (
	"math"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/penstock-dev/penstock/api/v1alpha1"
)

var (
	digits = regexp.MustCompile(`^[0-9]{1,5}$`)
	// amounts are numbers with units as people write them, and amount is one of them.
	amounts = regexp.MustCompile(`^([0-9]{1,15}(\.[0-9]{1,15})?[a-z]*)+$`)
	amount  = regexp.MustCompile(`([0-9]+(?:\.[0-9]+)?)([a-z]*)`)
)

// unitsMeant are units by the words that people write. A number without one is taken
// for seconds.
var unitsMeant = map[string]time.Duration{
	"": time.Second, "s": time.Second, "sec": time.Second, "secs": time.Second, "second": time.Second, "seconds": time.Second,
	"ms": time.Millisecond, "millisecond": time.Millisecond, "milliseconds": time.Millisecond,
	"m": time.Minute, "min": time.Minute, "mins": time.Minute, "minute": time.Minute, "minutes": time.Minute,
	"h": time.Hour, "hr": time.Hour, "hrs": time.Hour, "hour": time.Hour, "hours": time.Hour,
	"d": 24 * time.Hour, "day": 24 * time.Hour, "days": 24 * time.Hour,
	"w": 7 * 24 * time.Hour, "week": 7 * 24 * time.Hour, "weeks": 7 * 24 * time.Hour,
}

// SuggestDuration returns the duration that a text which is none is likely to mean: 60s
// for 60, 1m for "1 minute", 24h for 1d. It is empty where that cannot be told.
func SuggestDuration(text string) v1alpha1.Duration {
	text = strings.ToLower(strings.ReplaceAll(text, " ", ""))
	if digits.MatchString(text) && strings.Trim(text, "0") != "" {
		return v1alpha1.Duration(text + "s")
	}
	if !amounts.MatchString(text) {
		return ""
	}
	var total float64
	for _, part := range amount.FindAllStringSubmatch(text, -1) {
		number, err := strconv.ParseFloat(part[1], 64)
		unit, known := unitsMeant[part[2]]
		if err != nil || !known {
			return ""
		}
		total += number * float64(unit)
	}
	meant := time.Duration(math.Round(total/float64(time.Millisecond))) * time.Millisecond
	if total > float64(maxWindow) || meant <= 0 {
		return ""
	}
	return durationText(meant)
}
