// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package limiter

import "time"

// part is as much of a request as one run of a script can serve: the checks or the
// corrections whose counters are in one slot. Nothing changes the first few fields
// but who sends it.
type part struct {
	// slot is the counters' in a cluster; elsewhere 0.
	slot   int
	checks []Check
	names  []string
	// plans are the checks to decide on, or corrections those charges to correct.
	plans       []plan
	corrections []correction
	// asking tells the node to answer although the slot is not its own yet.
	asking bool
	// alone keeps other parts' counters out of its run.
	alone bool

	// What became of it, once its call has ended.
	sent   time.Time
	stands []standing
	// at is the store's time, in microseconds.
	at int64
	// undone is how many corrections could not be made.
	undone int
	// behind are the numbers of the corrections behind whose slots others stand.
	behind []int
	err    error
}

// run is one run of a script.
type run struct {
	parts []*part
	// words are those of the whole command: the first few are filled in later.
	words []any
	keys  int
	reply []int64
	err   error

	roomParts [1]*part
}

// asking says that the node is to be told to answer.
func (r *run) asking() bool { return r.parts[0].asking }

func (r *run) corrects() bool { return len(r.parts[0].corrections) > 0 }

// wordsAboutChecks is for how many words besides counters there is room at first.
const wordsAboutChecks = 16

// prepare writes down what the script is told, also whether the node's clock is known
// to be behind itself.
func (r *run) prepare(behind bool) {
	for _, p := range r.parts {
		r.keys += len(p.names)
	}
	// Mostly all parts have the same checks, which are told once.
	r.words = make([]any, scriptWords, scriptWords+r.keys+wordsAboutChecks)
	for _, p := range r.parts {
		for i := range p.names {
			// A pointer, since a string would be copied to become a word.
			r.words = append(r.words, &p.names[i])
		}
	}
	if r.corrects() {
		r.appendCorrections()
	} else {
		r.words = append(r.words, wordOf(behind))
		r.appendChecks()
	}
}

func wordOf(truth bool) int {
	if truth {
		return 1
	}
	return 0
}

// appendChecks tells the script the checks of all parts, and those of parts in a row
// that have the same once.
func (r *run) appendChecks() {
	for i := 0; i < len(r.parts); {
		plans, same := r.parts[i].plans, 1
		for i+same < len(r.parts) && samePlans(plans, r.parts[i+same].plans) {
			same++
		}
		r.words = append(r.words, same, len(plans))
		for _, made := range plans {
			r.words = made.appendArguments(r.words)
		}
		i += same
	}
}

func (r *run) appendCorrections() {
	for _, p := range r.parts {
		for i := range p.corrections {
			r.words = p.corrections[i].appendArguments(r.words)
		}
	}
}

// tell writes to each part what became of it.
func (r *run) tell(sent time.Time) {
	if r.err == nil && len(r.reply) == 0 {
		r.err = errEmptyReply
	}
	for _, p := range r.parts {
		p.sent, p.err = sent, r.err
	}
	switch {
	case r.err != nil:
	case r.corrects():
		r.readCorrections()
	default:
		r.readChecks()
	}
}

func (r *run) readChecks() {
	at, reply := r.reply[0], r.reply[1:]
	for _, p := range r.parts {
		p.at = at
		p.stands, reply, p.err = standingsOf(reply, p.plans)
	}
}

// slotInTheMiddle is what correct.lua says of a slot behind which others stand.
const slotInTheMiddle = 2

func (r *run) readCorrections() {
	reply := r.reply
	for _, p := range r.parts {
		for i := range p.corrections {
			switch {
			case len(reply) == 0 || reply[0] == 0:
				p.undone++
			case reply[0] == slotInTheMiddle:
				p.behind = append(p.behind, i)
			}
			reply = reply[min(1, len(reply)):]
		}
	}
}
