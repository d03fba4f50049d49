// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package limiter

import (
	"math"
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
// algorithm's own.
func store(t *testing.T, client *redis.Client, key string, kind uint8, text string) {
	t.Helper()
	client.Del(t.Context(), key)
	var err error
	switch items := strings.Split(text, ","); kind % 5 {
	case 0:
		err = client.Set(t.Context(), key, text, 0).Err()
	case 1:
		for _, item := range items {
			err = client.RPush(t.Context(), key, item).Err()
		}
	case 2:
		for _, item := range items {
			score, _ := strconv.ParseFloat(item, 64)
			if math.IsNaN(score) {
				score = 0
			}
			err = client.ZAdd(t.Context(), key, redis.Z{Score: score, Member: item}).Err()
		}
	case 3:
		err = client.HSet(t.Context(), key, "field", text).Err()
	}
	if err != nil {
		t.Fatalf("store %q: %v", text, err)
	}
}

// written is what stands under a key, and whether that has an expiry.
func written(t *testing.T, client *redis.Client, key string) (text string, expires bool) {
	t.Helper()
	text = client.Dump(t.Context(), key).Val()
	return text, client.PTTL(t.Context(), key).Val() != -1
}

// addHostile seeds each algorithm with each hostile text, as each kind of value.
func addHostile(f *testing.F) {
	f.Helper()
	const minute = int64(time.Minute / time.Microsecond)
	for algorithm := range uint8(len(algorithms) + 1) {
		for i, text := range hostileTexts {
			for kind := range uint8(3) {
				// Corrected later, or leased, and charged late.
				for _, asks := range []uint8{2, 8} {
					f.Add(kind, text, algorithm, asks, int64(7), minute, int64(5), int64(i%4))
				}
			}
		}
		f.Add(uint8(4), "", algorithm, uint8(2), int64(maxLogged), maxWindowMicros, int64(maxRequests), int64(maxLogged))
		f.Add(uint8(4), "", algorithm, uint8(6), int64(2_147_483_647), int64(10_000), int64(2_147_483_647), int64(maxCost))
		f.Add(uint8(3), "1", algorithm, uint8(0), int64(1), int64(1), int64(1), int64(1))
	}
}

// FuzzDecideScript has any rule decided on by Redis, whatever stands under its key.
func FuzzDecideScript(f *testing.F) {
	client := redistest.Start(f).Client(f)
	decideScript := newScript(decideText)
	addHostile(f)
	f.Fuzz(func(t *testing.T, kind uint8, text string, algorithm, asks uint8, requests, window, burst, cost int64) {
		check := anyCheck(algorithm, asks, requests, window, burst, cost, 0, 0)
		if check.Leased = asks&8 > 0; check.leasable() {
			check.share = int64(asks>>4) + 1
		}
		made, err := planFor(&check, time.Now)
		if err != nil {
			return
		}
		key := counterOf(check)
		store(t, client, key, kind, text)
		before, _ := written(t, client, key)
		words := append(make([]any, scriptWords), key, int(asks>>7), 1, 1)
		reply, err := decideScript.run(t.Context(), client, made.appendArguments(words), 1)
		if err != nil {
			t.Fatalf("%s on %q: %v", describe([]Check{check}), text, err)
		}
		stands, rest, err := standingsOf(reply[1:], []plan{made})
		if err != nil || len(rest) > 0 {
			t.Fatalf("reply %v: %v, with %d parts too many", reply, err, len(rest))
		}
		after, expires := written(t, client, key)
		if !expires && (after != before || stands[0].corrupt) {
			t.Errorf("%s on %q: the key has no expiry", describe([]Check{check}), text)
		}
		if stands[0].corrupt {
			if after != before {
				t.Errorf("%s on %q: a corrupt counter was changed", describe([]Check{check}), text)
			}
			return
		}
		requireBounds(t, decisionOf([]Check{check}, []plan{made}, stands, Store), check)
		if stands[0].advance < 0 || stands[0].advance > max(requests, burst) {
			t.Errorf("%s on %q: %d were charged in advance", describe([]Check{check}), text, stands[0].advance)
		}
	})
}

// FuzzCorrectScript has any charge of any rule corrected, whatever stands under its
// key, and decides after that.
func FuzzCorrectScript(f *testing.F) {
	client := redistest.Start(f).Client(f)
	decideScript, correctScript := newScript(decideText), newScript(correctText)
	addHostile(f)
	f.Fuzz(func(t *testing.T, kind uint8, text string, algorithm, asks uint8, requests, window, burst, cost int64) {
		check := anyCheck(algorithm, asks, requests, window, burst, cost, 0, 0)
		made, err := planFor(&check, time.Now)
		if err != nil || made.free() {
			return
		}
		key := counterOf(check)
		store(t, client, key, kind, text)
		before, _ := written(t, client, key)
		// When it was charged is within two windows of now, or at another time.
		charged := time.Now().UnixMicro() - int64(asks>>4)*window/8
		corrected := correction{kind: giveBack, plan: made, charged: charged}
		if asks&8 > 0 {
			corrected.kind = chargeLate
		}
		words := corrected.appendArguments(append(make([]any, scriptWords), key))
		reply, err := correctScript.run(t.Context(), client, words, 1)
		if err != nil || len(reply) != 1 || reply[0] != 0 && reply[0] != 1 {
			t.Fatalf("%s %s on %q: reply %v, %v, want 0 or 1", corrected.kind, describe([]Check{check}), text, reply, err)
		}
		after, expires := written(t, client, key)
		if after != before && (!expires || reply[0] == 0) {
			t.Errorf("%s %s on %q: the key was changed with reply %v and expiry %t", corrected.kind, describe([]Check{check}), text, reply, expires)
		}
		if corrected.kind != chargeLate || reply[0] == 0 || check.Limit.Algorithm == ruleset.SlidingWindowLog && strings.Contains(text, ",") {
			// Of a log that has an entry that is corrupt, not all are looked at.
			return
		}
		// What was charged late can be read.
		look := costing(check, 0)
		if made, err = planFor(&look, time.Now); err != nil {
			t.Fatal(err)
		}
		words = append(make([]any, scriptWords), key, 0, 1, 1)
		reply, err = decideScript.run(t.Context(), client, made.appendArguments(words), 1)
		if err != nil || reply[1] == corruptPart {
			t.Errorf("%s on %q after a late charge: reply %v, %v", describe([]Check{check}), text, reply, err)
		}
	})
}
