// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package limiter

import (
	"math"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/penstock-dev/penstock/internal/ruleset"
	"github.com/penstock-dev/penstock/test/redistest"
)

// hostileTexts are stored where counters should be: texts of each algorithm's form
// with numbers that are too large, and of none.
var hostileTexts = []string{
	"", "0", "000", "0000", "1900000000000000000", "9007199254740991999", "9007199254740993000", "1900000000000000.7", "1.99999999999999999999",
	"99999999999999999999999999.1", "0000000001", "9999999999999999999999", "00000000009999999999", "1:2:3", "99999999999:9007199254740993:1",
	"99999999999999999999:1:1", "0:0:0", "nan", "inf", "-1", "1e9", "0x10", " 1", "1 ", "\x00", "+5", "1,2", "nan,1900000000000000", "1900000000000000,nan,9007199254740991",
	"-inf,inf", "9007199254740991,9007199254740991", "3,2,1", "a,b", strings.Repeat("9", 400), strings.Repeat("1900000000000000,", 40), strings.Repeat("1900000000000000,nan,", 10) + "1900000000000000",
	strings.Repeat("1900000000000000,0,", 10) + "1900000000000000", strings.Repeat("1900000000000000,-inf,", 10) + "1900000000000000",
	strings.Repeat("1900000000000000,text,", 10) + "1900000000000000", "1900000000000000,nan", "1900000000000000,-1",
	"1900000000000000," + strings.Repeat("nan,", 20) + "1900000000000000", "1900000000000000," + strings.Repeat("0,", 20) + "1900000000000000",
}

// store stores a text, or what it lists, as a kind of value that may not be the
// algorithm's own, and returns what stands there then.
func (s *hostileScripts) store(t *testing.T, key string, kind uint8, text string) string {
	t.Helper()
	items := strings.Split(text, ",")
	calls := s.client.Pipeline()
	calls.Del(t.Context(), key)
	var stored interface{ Err() error }
	switch kind % 5 {
	case 0:
		stored = calls.Set(t.Context(), key, text, 0)
	case 1:
		stored = calls.RPush(t.Context(), key, items)
	case 2:
		members := make([]redis.Z, len(items))
		for i, item := range items {
			score, err := strconv.ParseFloat(item, 64)
			if err != nil && !math.IsInf(score, 0) || math.IsNaN(score) {
				score = 0
			}
			members[i] = redis.Z{Score: score, Member: item}
		}
		stored = calls.ZAdd(t.Context(), key, members...)
	case 3:
		stored = calls.HSet(t.Context(), key, "field", text)
	}
	dump := calls.Dump(t.Context(), key)
	// A key that is not there has no dump, which is an error of the client.
	_, _ = calls.Exec(t.Context())
	if stored != nil && stored.Err() != nil {
		t.Fatalf("store %q: %v", text, stored.Err())
	}
	return dump.Val()
}

// written is what stands under a key, and whether that has an expiry.
func (s *hostileScripts) written(t *testing.T, key string) (text string, expires bool) {
	t.Helper()
	calls := s.client.Pipeline()
	dump, left := calls.Dump(t.Context(), key), calls.PTTL(t.Context(), key)
	_, _ = calls.Exec(t.Context())
	return dump.Val(), left.Val() != -1
}

// hostileInput is a counter's stored value, and the rule and charge that meet it.
type hostileInput struct {
	// kind is how the text is stored, see store.
	kind                          uint8
	text                          string
	algorithm, asks               uint8
	requests, window, burst, cost int64
}

func (in hostileInput) check() Check {
	return anyCheck(in.algorithm, in.asks, in.requests, in.window, in.burst, in.cost, 0, 0)
}

// Bits of asks: a charge that is corrected later, and one that is leased, or charged
// late.
const (
	asksCorrectable uint8 = 2
	asksLate        uint8 = 8
)

// hostileOf stores the hostile text of a number, and has a rule of seven a minute
// meet it.
func hostileOf(number int, kind, algorithm, asks uint8) hostileInput {
	const minute = int64(time.Minute / time.Microsecond)
	return hostileInput{kind, hostileTexts[number], algorithm, asks, 7, minute, 5, int64(number % 4)}
}

// extremeInputs has each algorithm with numbers at its bounds and a value of a foreign type.
func extremeInputs() []hostileInput {
	var inputs []hostileInput
	for algorithm := range uint8(len(algorithms) + 1) {
		inputs = append(inputs,
			hostileInput{4, "", algorithm, 2, maxLogged, maxWindowMicros, maxRequests, maxLogged},
			hostileInput{4, "", algorithm, 6, 2_147_483_647, 10_000, 2_147_483_647, maxCost},
			hostileInput{3, "1", algorithm, 0, 1, 1, 1, 1})
	}
	return inputs
}

// everyHostile has each algorithm meet each hostile text, as each kind of value.
func everyHostile() []hostileInput {
	inputs := extremeInputs()
	for algorithm := range uint8(len(algorithms) + 1) {
		for number := range hostileTexts {
			for kind := range uint8(3) {
				for _, asks := range []uint8{asksCorrectable, asksLate} {
					inputs = append(inputs, hostileOf(number, kind, algorithm, asks))
				}
			}
		}
	}
	return inputs
}

// seeds are few, so that fuzzing begins within a moment: each hostile text as the kind
// of value that each algorithm reads, of which those that read a text take turns.
func seeds() []hostileInput {
	texts := []ruleset.Algorithm{ruleset.TokenBucket, ruleset.LeakyBucket, ruleset.FixedWindow, ruleset.SlidingWindowCounter}
	number := func(algorithm ruleset.Algorithm) uint8 { return uint8(slices.Index(algorithms, algorithm)) }
	calendar := uint8(len(algorithms))
	inputs := extremeInputs()
	for i := range hostileTexts {
		asks := []uint8{asksCorrectable, asksLate}[i%2]
		ofText := calendar
		if turn := i % (len(texts) + 1); turn < len(texts) {
			ofText = number(texts[turn])
		}
		inputs = append(inputs,
			hostileOf(i, 0, ofText, asks),
			hostileOf(i, 1, number(ruleset.SlidingWindowLog), asks),
			hostileOf(i, 2, number(ruleset.Concurrency), asks))
	}
	return inputs
}

func addSeeds(f *testing.F) {
	f.Helper()
	for _, in := range seeds() {
		f.Add(in.kind, in.text, in.algorithm, in.asks, in.requests, in.window, in.burst, in.cost)
	}
}

// TestScriptsMeetHostileValues runs all pairs of algorithms and hostile values: too many
// for seeds.
func TestScriptsMeetHostileValues(t *testing.T) {
	t.Parallel()
	scripts := newHostileScripts(redistest.Start(t).Client(t))
	for _, in := range everyHostile() {
		scripts.decide(t, in)
		scripts.correct(t, in)
	}
}

// hostileScripts run on a Redis whose values may be anything.
type hostileScripts struct {
	client               *redis.Client
	deciding, correcting script
}

func newHostileScripts(client *redis.Client) *hostileScripts {
	return &hostileScripts{client: client, deciding: newScript(decideText), correcting: newScript(correctText)}
}

// decide has a rule decided on, whatever stands under its key.
func (s *hostileScripts) decide(t *testing.T, in hostileInput) {
	t.Helper()
	check := in.check()
	if check.Leased = in.asks&8 > 0; check.leasable() {
		check.share = int64(in.asks>>4) + 1
	}
	made, err := planFor(&check, time.Now)
	if err != nil {
		return
	}
	key := counterOf(check)
	before := s.store(t, key, in.kind, in.text)
	words := append(make([]any, scriptWords), key, int(in.asks>>7), 1, 1)
	reply, err := s.deciding.run(t.Context(), s.client, made.appendArguments(words), 1)
	if err != nil {
		t.Fatalf("%s on %q: %v", describe([]Check{check}), in.text, err)
	}
	stands, rest, err := standingsOf(reply[1:], []plan{made})
	if err != nil || len(rest) > 0 {
		t.Fatalf("reply %v: %v, with %d parts too many", reply, err, len(rest))
	}
	after, expires := s.written(t, key)
	if !expires && (after != before || stands[0].corrupt) {
		t.Errorf("%s on %q: the key has no expiry", describe([]Check{check}), in.text)
	}
	if stands[0].corrupt {
		if after != before {
			t.Errorf("%s on %q: a corrupt counter was changed", describe([]Check{check}), in.text)
		}
		return
	}
	requireBounds(t, decisionOf([]Check{check}, []plan{made}, stands, Store), check)
	if stands[0].advance < 0 || stands[0].advance > max(in.requests, in.burst) {
		t.Errorf("%s on %q: %d were charged in advance", describe([]Check{check}), in.text, stands[0].advance)
	}
}

// correct has a charge corrected, whatever stands under its key, and decides after that.
func (s *hostileScripts) correct(t *testing.T, in hostileInput) {
	t.Helper()
	check := in.check()
	made, err := planFor(&check, time.Now)
	if err != nil || made.free() {
		return
	}
	key := counterOf(check)
	before := s.store(t, key, in.kind, in.text)
	// When it was charged is within two windows of now, or at another time.
	charged := time.Now().UnixMicro() - int64(in.asks>>4)*in.window/8
	corrected := correction{kind: giveBack, plan: made, charged: charged}
	if in.asks&8 > 0 {
		corrected.kind = chargeLate
	}
	words := corrected.appendArguments(append(make([]any, scriptWords), key))
	reply, err := s.correcting.run(t.Context(), s.client, words, 1)
	most := int64(1)
	if check.Limit.Algorithm == ruleset.LeakyBucket {
		most = slotInTheMiddle
	}
	if err != nil || len(reply) != 1 || reply[0] < 0 || reply[0] > most {
		t.Fatalf("%s %s on %q: reply %v, %v, want 0 or 1, of a slot perhaps 2", corrected.kind, describe([]Check{check}), in.text, reply, err)
	}
	after, expires := s.written(t, key)
	if after != before && (!expires || reply[0] == 0) {
		t.Errorf("%s %s on %q: the key was changed with reply %v and expiry %t", corrected.kind, describe([]Check{check}), in.text, reply, expires)
	}
	if corrected.kind != chargeLate || reply[0] == 0 || check.Limit.Algorithm == ruleset.SlidingWindowLog && strings.Contains(in.text, ",") {
		// Of a log that has an entry that is corrupt, not all are looked at.
		return
	}
	s.requireReadable(t, check, in)
}

// requireReadable wants what was charged late to be read.
func (s *hostileScripts) requireReadable(t *testing.T, check Check, in hostileInput) {
	t.Helper()
	look := costing(check, 0)
	made, err := planFor(&look, time.Now)
	if err != nil {
		t.Fatal(err)
	}
	words := append(make([]any, scriptWords), counterOf(check), 0, 1, 1)
	reply, err := s.deciding.run(t.Context(), s.client, made.appendArguments(words), 1)
	if err != nil || reply[1] == corruptPart {
		t.Errorf("%s on %q after a late charge: reply %v, %v", describe([]Check{check}), in.text, reply, err)
	}
}

// FuzzDecideScript has any rule decided on by Redis, whatever stands under its key.
func FuzzDecideScript(f *testing.F) {
	scripts := newHostileScripts(redistest.Start(f).Client(f))
	addSeeds(f)
	f.Fuzz(func(t *testing.T, kind uint8, text string, algorithm, asks uint8, requests, window, burst, cost int64) {
		scripts.decide(t, hostileInput{kind, text, algorithm, asks, requests, window, burst, cost})
	})
}

// FuzzCorrectScript has any charge of any rule corrected, whatever stands under its
// key, and decides after that.
func FuzzCorrectScript(f *testing.F) {
	scripts := newHostileScripts(redistest.Start(f).Client(f))
	addSeeds(f)
	f.Fuzz(func(t *testing.T, kind uint8, text string, algorithm, asks uint8, requests, window, burst, cost int64) {
		scripts.correct(t, hostileInput{kind, text, algorithm, asks, requests, window, burst, cost})
	})
}
