// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package faults

// bad has the network become bad.
func bad(toxics ...toxic) func(*scene) {
	return func(s *scene) {
		s.t.Helper()
		for _, one := range toxics {
			s.ways[0].network.add(s.t, one)
		}
	}
}

func heal(s *scene) { s.ways[0].network.heal(s.t) }

func slow(latency, jitter int64) func(*scene) {
	return bad(toxic{"latency", "downstream", map[string]int64{"latency": latency, "jitter": jitter}})
}

// cutReplies ends each connection within an answer to a script call: the first if
// nothing comes before.
func cutReplies(before int64) func(*scene) {
	return func(s *scene) {
		s.t.Helper()
		most := s.ways[0].tap.greetingBytes() + before + 5
		s.ways[0].network.add(s.t, toxic{"limit_data", "downstream", map[string]int64{"bytes": most}})
	}
}

// checkCharged wants some unanswered requests to have been charged: else no reply
// was lost.
func checkCharged(s *scene) {
	s.t.Helper()
	direct := s.connect()
	defer direct.Close()
	var charged int64
	for _, l := range s.lanes {
		l.node.endLoad()
		told := l.node.read()
		for _, c := range counters() {
			charged += s.counted(direct, l.mode, c) - told.Counters[c.name].StoreAdmitted
		}
	}
	if charged == 0 {
		s.t.Error("no request was charged whose reply was lost")
	}
}

// networkFaults are what may happen on the way. The default deadline is 25 ms.
func networkFaults() map[string]fault {
	silence := map[string]int64{"timeout": 0}
	return map[string]fault{
		"black hole": {
			badNetwork: true, end: heal,
			begin: bad(toxic{"timeout", "upstream", silence}, toxic{"timeout", "downstream", silence}),
		},
		"reply cut in the middle": {badNetwork: true, begin: cutReplies(0), end: heal, check: checkCharged},
		// A request that were sent again would find a connection.
		"reply cut now and then": {badNetwork: true, begin: cutReplies(400), end: heal, outcome: shaken, check: checkCharged},
		"reset before the reply": {
			badNetwork: true, end: heal, check: checkCharged,
			begin: bad(toxic{"reset_peer", "downstream", silence}),
		},
		"latency above the deadline": {badNetwork: true, begin: slow(60, 0), end: heal, check: checkCharged},
		"jitter above the deadline":  {badNetwork: true, begin: slow(60, 30), end: heal, check: checkCharged},
		"jitter across the deadline": {badNetwork: true, begin: slow(25, 20), end: heal, outcome: shaken},
		"latency below the deadline": {badNetwork: true, begin: slow(100, 0), end: heal, outcome: unharmed, deadline: patient},
		"jitter below the deadline":  {badNetwork: true, begin: slow(100, 50), end: heal, outcome: unharmed, deadline: patient},
	}
}
