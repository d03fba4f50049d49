// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package history

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"time"
)

// Scene is what workers ask for.
type Scene string

const (
	// Alone has each request meet one limit.
	Alone Scene = "alone"
	// Together has each request meet three limits of different algorithms.
	Together Scene = "together"
	// Leased has each request meet one limit that is spent from leases.
	Leased Scene = "leased"
)

// limits are those of a scene with so many processes.
func (s Scene) limits(processes int) Limits {
	if s == Leased {
		return LeasedBy(processes)
	}
	return Standard()
}

const (
	// pulse is how often requests to leased limits come in a burst.
	pulse = time.Second
	// burst is how long that takes.
	burst = pulse * 2 / 5
	// quietOneIn is how few of the requests come between the bursts: they take leases,
	// of which most is left for the burst.
	quietOneIn = 20
)

// rests says whether a worker makes no request now.
func (s Scene) rests(r *rand.Rand, now time.Time) bool {
	return s == Leased && now.UnixMicro()%pulse.Microseconds() > burst.Microseconds() && r.IntN(quietOneIn) > 0
}

// clients is how many clients share the limits at a time.
const clients = 2

// wish is a limit that a request will meet.
type wish struct {
	limit, client string
	cost          int64
}

// draw draws the limits that a request meets now, all of one client.
func (s Scene) draw(r *rand.Rand, limits Limits, names []string, now time.Time) []wish {
	first := r.IntN(len(names))
	chosen := []string{names[first]}
	if s == Together {
		for _, at := range r.Perm(len(names)) {
			if len(chosen) < 3 && !sharesAlgorithm(chosen, names[at]) {
				chosen = append(chosen, names[at])
			}
		}
	}
	client := fmt.Sprintf("%d/%d", now.UnixMicro()/clientsStay.Microseconds(), r.IntN(clients))
	if s == Leased {
		return []wish{{limit: chosen[0], client: "all", cost: 1 + r.Int64N(mostLeasedCost)}}
	}
	wishes := make([]wish, len(chosen))
	for i, name := range chosen {
		wishes[i] = wish{limit: name, client: client, cost: drawCost(r, limits[name].Requests)}
	}
	return wishes
}

// clientsStay is how long the clients stay. Then others come, with unused limits, for
// all processes at the same time.
const clientsStay = 250 * time.Millisecond

func sharesAlgorithm(chosen []string, name string) bool {
	algorithm, _, _ := strings.Cut(name, "/")
	for _, other := range chosen {
		if strings.HasPrefix(other, algorithm+"/") {
			return true
		}
	}
	return false
}

// drawCost is mostly small, often a good part of the limit, and sometimes nothing or
// more than the limit ever admits.
func drawCost(r *rand.Rand, requests int64) int64 {
	switch r.IntN(20) {
	case 0:
		return 0
	case 1:
		return 1 + r.Int64N(requests+2)
	case 2, 3, 4, 5:
		return 1 + r.Int64N(1+requests/6)
	default:
		return 1 + r.Int64N(3)
	}
}
