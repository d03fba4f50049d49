// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package compile

import (
	"math/big"
	"math/bits"
	"time"

	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/penstock-dev/penstock/api/v1alpha1"
	"github.com/penstock-dev/penstock/internal/ruleset"
)

const (
	maxLimits   = 8
	maxRequests = 1 << 31
	// maxLogged is the most requests of a SlidingWindowLog, each of which is kept.
	maxLogged = 10_000
	minWindow = 10 * time.Millisecond
	maxWindow = 400 * 24 * time.Hour
	// maxFill is how long a bucket may take to fill. It keeps the arithmetic of
	// all algorithms below 2^53 microseconds with room to spare.
	maxFill = 10 * 365 * 24 * time.Hour
	// maxQueue is how long a request may wait for its turn in a LeakyBucket. Beyond
	// that clients and what is between them and us give up.
	maxQueue = 30 * time.Second
)

func compileLimits(rule *v1alpha1.Rule, at *field.Path, defaults *v1alpha1.EffectiveDefaults, found *findings) []ruleset.Limit {
	if len(rule.Limits) == 0 && len(rule.Tiers) == 0 {
		found.invalid(at, "has no limit: write at least one, such as {name: minute, requests: 60, window: 1m}")
	}
	return compileLimitList(rule.Limits, at, defaults, found)
}

func compileLimitList(limits []v1alpha1.Limit, at *field.Path, defaults *v1alpha1.EffectiveDefaults, found *findings) []ruleset.Limit {
	atMost(found, at, len(limits), maxLimits)
	var compiled []ruleset.Limit
	limitNames := newNames(found)
	for i := range limits {
		limit := &limits[i]
		limitNames.check(at.Index(i).Child("name"), limit.Name)
		if limit.Algorithm == "" && limit.Calendar == nil {
			defaults.Algorithm = v1alpha1.AlgorithmTokenBucket
		}
		compiled = append(compiled, compileLimit(limit, at.Index(i), found))
	}
	return compiled
}

// compileLimit compiles a limit but for its key, which depends on the whole policy.
func compileLimit(limit *v1alpha1.Limit, at *field.Path, found *findings) ruleset.Limit {
	isKnown := oneOf(found, at.Child("algorithm"), string(limit.Algorithm), "",
		"TokenBucket", "LeakyBucket", "SlidingWindowLog", "SlidingWindowCounter", "FixedWindow", "Concurrency")
	form := ruleset.Limit{
		Name:      limit.Name,
		Algorithm: ruleset.Algorithm(limit.Algorithm),
		Requests:  limit.Requests,
		Burst:     limit.Requests,
	}
	if !isKnown {
		// Which of the other fields have a meaning depends on the algorithm that is meant.
		return form
	}
	form.WindowMicros = compileWindow(limit, at, found).Microseconds()
	if limit.Algorithm == "" {
		form.Algorithm = ruleset.TokenBucket
	}
	if limit.Calendar != nil {
		form.Algorithm = ruleset.FixedWindow
		form.Calendar = compileCalendar(limit, at, found)
	}
	if limit.Requests == 0 {
		found.invalid(at.Child("requests"), "is 0 or missing: write a number from 1 to %d", int64(maxRequests))
		return form
	}
	if limit.Requests < 1 || limit.Requests > maxRequests {
		found.invalid(at.Child("requests"), "is %d: write a number from 1 to %d", limit.Requests, int64(maxRequests))
		return form
	}
	if form.Algorithm == ruleset.SlidingWindowLog && limit.Requests > maxLogged {
		found.invalid(at.Child("requests"), "is %d, but SlidingWindowLog remembers each request, at most %d: lower requests, or choose SlidingWindowCounter",
			limit.Requests, maxLogged)
	}
	if limit.Burst != nil {
		form.Burst = *limit.Burst
		checkBurst(limit, at.Child("burst"), found)
	}
	if form.Algorithm == ruleset.LeakyBucket {
		checkQueue(&form, at.Child("burst"), found)
	}
	if fillExceeds(form.Burst, form.WindowMicros, form.Requests, maxFill) {
		found.invalid(at, "an empty bucket of %d would take more than 10 years to fill at %d per %s: lower burst, or raise requests",
			form.Burst, limit.Requests, limit.Window)
	}
	return form
}

// compileWindow checks the window and returns it; 0 if there is none.
func compileWindow(limit *v1alpha1.Limit, at *field.Path, found *findings) time.Duration {
	at = at.Child("window")
	switch {
	case limit.Calendar != nil && limit.Window != "":
		found.invalid(at, "cannot stand beside calendar: remove one of them")
		return 0
	case limit.Algorithm == v1alpha1.AlgorithmConcurrency && limit.Window != "":
		found.invalid(at, "has no meaning for Concurrency: remove it")
		return 0
	case limit.Calendar != nil || limit.Algorithm == v1alpha1.AlgorithmConcurrency:
		return 0
	case limit.Window == "":
		found.invalid(at, "is missing: write how long it takes until %d requests are allowed again, such as 1m", limit.Requests)
		return 0
	}
	window, err := parseDuration(limit.Window)
	if err != nil {
		found.invalid(at, "%q %v", limit.Window, err)
		return 0
	}
	if window < minWindow || window > maxWindow {
		found.invalid(at, "is %s: write a duration from 10ms to 9600h (400 days)", limit.Window)
	}
	return window
}

func checkBurst(limit *v1alpha1.Limit, at *field.Path, found *findings) {
	switch limit.Algorithm {
	case "", v1alpha1.AlgorithmTokenBucket, v1alpha1.AlgorithmLeakyBucket:
		if limit.Calendar != nil {
			found.invalid(at, "has no meaning for a calendar window: remove it, or write a window")
			return
		}
	default:
		found.invalid(at, "has no meaning for %s: remove it, or use TokenBucket", limit.Algorithm)
		return
	}
	if *limit.Burst < 1 || *limit.Burst > maxRequests {
		found.invalid(at, "is %d: write a number from 1 to %d", *limit.Burst, int64(maxRequests))
	}
}

// checkQueue bounds how long the last of a full queue waits.
func checkQueue(form *ruleset.Limit, at *field.Path, found *findings) {
	if !fillExceeds(form.Burst, form.WindowMicros, form.Requests, maxQueue) {
		return
	}
	const message = "is %d, and the last of so many requests would wait longer than 30s (burst × window ÷ requests): "
	if fillExceeds(1, form.WindowMicros, form.Requests, maxQueue) {
		found.invalid(at, message+"raise requests to one in 30s at least, or use TokenBucket, which does not delay", form.Burst)
		return
	}
	fits := new(big.Int).Mul(big.NewInt(maxQueue.Microseconds()), big.NewInt(form.Requests))
	found.invalid(at, message+"write burst: %d or less, or raise requests", form.Burst, fits.Quo(fits, big.NewInt(form.WindowMicros)))
}

// fillExceeds reports whether burst × window ÷ requests is more than most, exactly:
// the products need up to 96 bits.
func fillExceeds(burst, windowMicros, requests int64, most time.Duration) bool {
	if burst < 1 || windowMicros < 1 || requests < 1 {
		return false
	}
	high, low := bits.Mul64(uint64(burst), uint64(windowMicros))
	boundHigh, boundLow := bits.Mul64(uint64(most.Microseconds()), uint64(requests))
	return high > boundHigh || high == boundHigh && low > boundLow
}
