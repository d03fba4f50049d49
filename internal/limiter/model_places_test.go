// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package limiter

import "maps"

// modelPlaces are the places that one request holds, and until when if it is not
// heard of.
type modelPlaces struct{ count, until int64 }

const modelLease = 30_000_000

func (m *model) held(now int64, check Check) int64 {
	var held int64
	for _, places := range m.places[name(check)] {
		if places.until > now {
			held += places.count
		}
	}
	return held
}

func (m *model) lookPlaces(now int64, check Check) modelState {
	held, requests := m.held(now, check), check.Limit.Requests
	state := modelState{
		Limit: check.Limit.Name, Remaining: max(0, requests-held),
		Allowed: held+check.Cost <= requests, Never: check.Cost > requests,
	}
	if !state.Allowed && !state.Never {
		state.RetryAfter = 1_000_000
	}
	if held > 0 {
		state.Reset, state.Next = 1_000_000, 1_000_000
	}
	return state
}

func (m *model) takePlaces(now int64, holder string, check Check) {
	if m.places[name(check)] == nil {
		m.places[name(check)] = map[string]modelPlaces{}
	}
	m.forgetPlaces(now, check)
	m.places[name(check)][holder] = modelPlaces{count: check.Cost, until: now + modelLease}
}

func (m *model) shortenPlaces(now int64, check Check) {
	late := false
	for _, places := range m.places[name(check)] {
		late = late || places.until > now+modelLease
	}
	if !late {
		return
	}
	m.forgetPlaces(now, check)
	for holder, places := range m.places[name(check)] {
		places.until = min(places.until, now+modelLease)
		m.places[name(check)][holder] = places
	}
}

// forgetPlaces forgets those whose requests were not heard of.
func (m *model) forgetPlaces(now int64, check Check) {
	maps.DeleteFunc(m.places[name(check)], func(_ string, places modelPlaces) bool { return places.until <= now })
}
