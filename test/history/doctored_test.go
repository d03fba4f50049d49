// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package history

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/penstock-dev/penstock/test/model"
	"github.com/penstock-dev/penstock/test/redistest"
)

// doctored are ways to falsify a history in which record full is a refusal of cost 1
// by a limit that record filler, an admission, helped to fill.
var doctored = []struct {
	what   string
	change func(records []Record, filler, full int) []Record
	// want are the kinds of which one must be reported.
	want []Kind
}{
	{"an extra admission", func(records []Record, filler, full int) []Record {
		extra := records[filler]
		extra.Worker, extra.Number, extra.At = "extra", 1, records[full].At
		return append(records, extra)
	}, []Kind{OverAdmission}},
	{"a time moved", func(records []Record, filler, full int) []Record {
		records[filler].At = records[full].At + 1
		return records
	}, []Kind{WrongRefusal, Inconsistent}},
	{"a cost lowered", func(records []Record, filler, _ int) []Record {
		records[filler].Checks[0].Cost--
		return records
	}, []Kind{WrongRefusal}},
	{"a refusal turned into an admission", func(records []Record, _, full int) []Record {
		records[full].Admitted, records[full].Checks[0].Admits = true, true
		return records
	}, []Kind{OverAdmission}},
	{"a line twice", func(records []Record, filler, _ int) []Record {
		return append(records, records[filler])
	}, []Kind{Inconsistent}},
	{"a line left out", func(records []Record, filler, _ int) []Record {
		return slices.Delete(records, filler, filler+1)
	}, []Kind{WrongRefusal, Inconsistent}},
	{"an admission turned into a refusal", func(records []Record, filler, _ int) []Record {
		records[filler].Admitted, records[filler].Checks[0].Admits = false, false
		return records
	}, []Kind{WrongRefusal}},
	{"an admission of another client", func(records []Record, filler, _ int) []Record {
		records[filler].Checks[0].Client = "nobody"
		return records
	}, []Kind{WrongRefusal}},
	{"a verdict against a limit", func(records []Record, filler, _ int) []Record {
		records[filler].Checks[0].Admits = false
		return records
	}, []Kind{Inconsistent}},
}

func TestDoctoredRecordsAreRejected(t *testing.T) {
	const processes = 8
	records := record(t, processes, taskFor(redistest.Start(t), processes, Alone))
	for _, name := range []string{"bucket/slow", "log/slow"} {
		requireRejected(t, name, Standard(), records, func(limit, what string, why Problem) {
			if limit == "bucket/slow" {
				fmt.Printf("history: doctored, %s: rejected: %v\n", what, why)
			}
		})
	}
}

// TestOnlyTheModelFindsDoctoredRecords has one request of each worker, so that no
// order of requests gives anything away.
func TestOnlyTheModelFindsDoctoredRecords(t *testing.T) {
	for _, name := range []string{"bucket/slow", "queue/slow", "counter/slow", "log/slow", "window/slow", "window/calendar"} {
		requireRejected(t, name, Standard(), invented(Standard(), name, 500), func(limit, what string, why Problem) {
			t.Logf("%s, %s: rejected: %v", limit, what, why)
		})
	}
}

// invented are the records of requests to one limit on which the model decided.
func invented(limits Limits, name string, count int) []Record {
	random := rand.New(rand.NewPCG(1, 2))
	reference, now := model.New(), int64(1_900_000_000_000_000)
	records := make([]Record, 0, count)
	for i := range count {
		now += 1 + random.Int64N(1000)
		judged := Judged{Limit: name, Client: "client", Cost: 1 + random.Int64N(3)}
		judged.Admits, _ = reference.Decide(now, []model.Check{{Limit: limits[name].Limit, Identity: judged.Client, Cost: judged.Cost}})
		records = append(records, Record{
			Worker: fmt.Sprint(i), Number: 1, At: now, Before: now, After: now, Admitted: judged.Admits, Checks: []Judged{judged},
		})
	}
	return records
}

// requireRejected makes sure that a history is accepted as it is and rejected in each
// way in which it can be falsified.
func requireRejected(t *testing.T, limit string, limits Limits, records []Record, tell func(limit, what string, why Problem)) {
	t.Helper()
	if report := Check(limits, records); len(report.Problems) > 0 {
		t.Fatalf("%s: the records are rejected before they are doctored: %v", limit, report.Problems[0])
	}
	filler, full := findFull(records, limit)
	if filler < 0 {
		t.Fatalf("no client filled limit %s", limit)
	}
	for _, doctor := range doctored {
		report := Check(limits, doctor.change(copied(records), filler, full))
		at := slices.IndexFunc(report.Problems, func(p Problem) bool { return slices.Contains(doctor.want, p.Kind) })
		if at < 0 {
			t.Errorf("%s, %s: %d problems, want one of %v", limit, doctor.what, len(report.Problems), doctor.want)
			continue
		}
		tell(limit, doctor.what, report.Problems[at])
	}
}

// findFull finds a refusal of cost 1 and an admission of more before it, of one
// client and the limit.
func findFull(records []Record, limit string) (filler, full int) {
	for full, refusal := range records {
		if !isDecisionOf(refusal, limit) || refusal.Admitted || refusal.Checks[0].Cost != 1 {
			continue
		}
		for filler, admission := range records {
			if isDecisionOf(admission, limit) && admission.Admitted && admission.At < refusal.At &&
				admission.Checks[0].Cost > 1 && admission.Checks[0].Client == refusal.Checks[0].Client {
				return filler, full
			}
		}
	}
	return -1, -1
}

func isDecisionOf(record Record, limit string) bool {
	return record.At > 0 && len(record.Checks) == 1 && record.Checks[0].Limit == limit
}

// copied are records that can be changed.
func copied(records []Record) []Record {
	copies := slices.Clone(records)
	for i := range copies {
		copies[i].Checks = slices.Clone(copies[i].Checks)
	}
	return copies
}

func TestALineThatIsNoRecordIsAnError(t *testing.T) {
	t.Parallel()
	var file bytes.Buffer
	want := invented(Standard(), "log/quick", 3)
	for _, record := range want {
		if err := record.Write(&file); err != nil {
			t.Fatal(err)
		}
	}
	if read, err := Parse(file.Bytes()); err != nil || len(read) != len(want) {
		t.Errorf("read %d records, %v, want %d", len(read), err, len(want))
	}
	for what, text := range map[string]string{
		"cut off": file.String()[:file.Len()-9], "empty": file.String() + "\n", "a stranger": strings.Replace(file.String(), "cost", "price", 1),
	} {
		if _, err := Parse([]byte(text)); err == nil {
			t.Errorf("%s: no error", what)
		}
	}
}
