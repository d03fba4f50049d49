// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package history

import (
	"flag"
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/penstock-dev/penstock/test/redistest"
)

var decisions = flag.Int64("history.decisions", 8000, "how many decisions of the store each history holds at least")

// workersPerProcess is how many ask at once in a process.
const workersPerProcess = 4

// mostShown bounds how many problems a test prints.
const mostShown = 10

func TestHistoryAdmitsNothingThatTheModelRefuses(t *testing.T) {
	for _, processes := range []int{1, 2, 8, 32} {
		t.Run(fmt.Sprint(processes), func(t *testing.T) { testHistory(t, processes, Alone) })
	}
}

func TestHistoryOfSeveralLimitsIsAllOrNothing(t *testing.T) {
	testHistory(t, 8, Together)
}

func testHistory(t *testing.T, processes int, scene Scene) {
	t.Helper()
	server := redistest.Start(t)
	records := record(t, processes, taskFor(server, processes, scene))
	requireOverlap(t, processes, records)
	limits := scene.limits(processes)
	report := Check(limits, records)
	requireClean(t, limits, report)
	requireVaried(t, limits, scene, records)
	requireExpiries(t, server.Client(t))
	requireNoPlaces(t, server.Client(t))
	fmt.Printf("history: %d processes, %d decisions, over-admission %d; %s: %d admitted, %d refused, %d refused from memory, wrong refusals %d\n",
		processes, report.Decisions, report.Count(OverAdmission), scene, report.Admitted, report.Refused, report.FromMemory, report.Count(WrongRefusal))
}

func taskFor(server *redistest.Server, processes int, scene Scene) Task {
	return Task{
		Addr: server.Addr(), Scene: scene, Seed: uint64(time.Now().UnixNano()), Workers: workersPerProcess, Processes: processes,
		Decisions: max(1, *decisions/int64(processes)),
	}
}

func requireClean(t *testing.T, limits Limits, report *Report) {
	t.Helper()
	for i, problem := range report.Problems {
		if i == mostShown {
			t.Errorf("and %d more problems", len(report.Problems)-i)
			break
		}
		t.Error(problem)
	}
	for limit, excess := range report.Over {
		if limits[limit].Bound == 0 {
			t.Errorf("limit %s was used by %s requests beyond its capacity", limit, decimal(excess))
		}
	}
	if int64(report.Decisions) < *decisions/2 {
		t.Errorf("%d decisions were recorded, want %d", report.Decisions, *decisions)
	}
}

// requireOverlap makes sure that all processes worked at the same time.
func requireOverlap(t *testing.T, processes int, records []Record) {
	t.Helper()
	first, last := map[string]int64{}, map[string]int64{}
	for _, record := range records {
		process, _, _ := strings.Cut(record.Worker, ".")
		if at, known := first[process]; !known || record.Before < at {
			first[process] = record.Before
		}
		last[process] = max(last[process], record.After)
	}
	latestFirst, earliestLast := int64(0), int64(math.MaxInt64)
	for process := range first {
		latestFirst, earliestLast = max(latestFirst, first[process]), min(earliestLast, last[process])
	}
	if len(first) != processes || latestFirst >= earliestLast {
		t.Errorf("%d processes recorded, want %d; the last began at %d, the first ended at %d", len(first), processes, latestFirst, earliestLast)
	}
}

// requireVaried makes sure that each limit admitted and refused.
func requireVaried(t *testing.T, limits Limits, scene Scene, records []Record) {
	t.Helper()
	admitted, refused := map[string]int{}, map[string]int{}
	fromMemory := 0
	for _, record := range records {
		for _, judged := range record.Checks {
			switch {
			case record.fromMemory():
				fromMemory++
			case judged.Admits:
				admitted[judged.Limit]++
			default:
				refused[judged.Limit]++
			}
		}
	}
	for _, name := range limits.Names() {
		if least := int(max(1, *decisions/4000)); min(admitted[name], refused[name]) < least {
			t.Errorf("limit %s admitted %d and refused %d times in scene %s, want at least %d each", name, admitted[name], refused[name], scene, least)
		}
	}
	if fromMemory == 0 {
		t.Errorf("no request was refused from memory in scene %s", scene)
	}
}

// requireExpiries fails the test if there is no key, or one lives for ever.
func requireExpiries(t *testing.T, client *redis.Client) {
	t.Helper()
	if redistest.RequireExpiries(t, client, "*") == 0 {
		t.Error("found no keys, want some, all with an expiry")
	}
}

// requireNoPlaces fails the test if anybody still holds places.
func requireNoPlaces(t *testing.T, client *redis.Client) {
	t.Helper()
	names := client.ScanType(t.Context(), 0, "*", 1000, "zset").Iterator()
	for names.Next(t.Context()) {
		t.Errorf("places of %q are still held", names.Val())
	}
	if err := names.Err(); err != nil {
		t.Errorf("look for places that are held: %v", err)
	}
}
