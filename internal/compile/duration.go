// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package compile

import (
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"time"

	"github.com/penstock-dev/penstock/api/v1alpha1"
)

// gep2257 is the form of a duration of the Gateway API: up to four numbers with
// units, none of them negative or with a fraction.
// See https://gateway-api.sigs.k8s.io/geps/gep-2257/.
var gep2257 = regexp.MustCompile(`^([0-9]{1,5}(h|m|s|ms)){1,4}$`)

const durationForm = "up to four whole numbers of at most five digits, each with a unit h, m, s or ms, such as 1m30s"

// parseDuration reads a duration in the form of GEP-2257. Its error ends a sentence that
// begins with the text.
func parseDuration(text v1alpha1.Duration) (time.Duration, error) {
	if gep2257.MatchString(string(text)) {
		if d, err := time.ParseDuration(string(text)); err == nil {
			return d, nil
		}
	}
	if meant := SuggestDuration(string(text)); meant != "" {
		return 0, fmt.Errorf("is not a duration: write %s if that is meant, or %s", meant, durationForm)
	}
	return 0, errors.New("is not a duration: write " + durationForm)
}

// durationText writes whole milliseconds in the form of GEP-2257.
func durationText(d time.Duration) v1alpha1.Duration {
	var text []byte
	for _, unit := range []struct {
		length time.Duration
		name   string
	}{{time.Hour, "h"}, {time.Minute, "m"}, {time.Second, "s"}, {time.Millisecond, "ms"}} {
		if count := d / unit.length; count > 0 {
			text = append(strconv.AppendInt(text, int64(count), 10), unit.name...)
		}
		d %= unit.length
	}
	if len(text) == 0 {
		return "0s"
	}
	return v1alpha1.Duration(text)
}
