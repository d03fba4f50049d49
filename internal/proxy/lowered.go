// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package proxy

import (
	"time"

	"github.com/penstock-dev/penstock/internal/ruleset"
)

// settleAfter is how long after a new rule set came here all pods are taken to have
// it: who was not heard of for so long is no live pod.
const settleAfter = 30 * time.Second

// lowered are buckets that new rules made smaller, by the limit's key. What such a
// bucket owes beyond its burst is cut for good, see limiter.Check.Settled: but only
// once no pod fills it by the old rules, and only as long as it may owe so much.
type lowered map[string]settling

// settling is the time in which a bucket is cut for good.
type settling struct{ from, until time.Time }

// holds reports whether a bucket is cut for good at a time.
func (l lowered) holds(key string, now time.Time) bool {
	if len(l) == 0 {
		return false
	}
	s, known := l[key]
	return known && !now.Before(s.from) && now.Before(s.until)
}

// after is what is lowered once rules follow others, which had lowered buckets
// themselves.
func (l lowered) after(before, rules *Rules, now time.Time) lowered {
	if before == nil || before.Matcher == rules.Matcher {
		return l
	}
	old := make(map[string]*ruleset.Limit)
	for _, limit := range before.Matcher.Limits() {
		old[limit.Key] = limit
	}
	next := make(lowered)
	for rule, limit := range rules.Matcher.Limits() {
		was, known := old[limit.Key]
		if !known || limit.Algorithm != ruleset.TokenBucket && limit.Algorithm != ruleset.LeakyBucket {
			continue
		}
		running := l[limit.Key]
		switch held, holds := was.Burst*limit.Requests, limit.Burst*was.Requests; {
		case held > holds:
			// Equal keys have equal windows, so these compare the times to fill.
			from := now.Add(settleAfter)
			next[limit.Key] = settling{from: from, until: latest(running.until, from.Add(worstDebt(rule, was)))}
		case held == holds && now.Before(running.until):
			next[limit.Key] = running
		}
	}
	return next
}

// worstDebt is how long the fullest debt of a bucket takes to wear off. Late charges
// go one capacity below empty.
func worstDebt(rule *ruleset.Rule, limit *ruleset.Limit) time.Duration {
	micros := float64(limit.Burst) * float64(limit.WindowMicros) / float64(limit.Requests)
	if rule.Cost.IsCorrected() {
		micros *= 2
	}
	return time.Duration(micros) * time.Microsecond
}

func latest(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}
