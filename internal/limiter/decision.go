// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package limiter

import (
	"context"
	"time"

	"github.com/penstock-dev/penstock/internal/ruleset"
)

// Check is one limit that a request meets.
type Check struct {
	// Kind, Policy and Rule say where the limit comes from.
	Kind, Policy, Rule string
	Limit              *ruleset.Limit
	// Identity is the keyed hash of whom the rule counts: 22 characters of
	// base64url. A limit that a request meets twice for one identity is charged
	// once, at the larger cost.
	Identity string
	// Cost is how many requests this one counts as; 0 looks without charging.
	Cost int64
	// Shadow limits refuse nothing. They are charged only if they would admit.
	Shadow bool
	// Drawn says that the limit is a shadow by a draw, so that it may refuse the next
	// request: clients are told of it all the same.
	Drawn bool
	// Correctable says that Receipt.Settle may change what the limit was charged. Late
	// charges take a limit as much as its capacity below empty.
	Correctable bool
	// Settled says that the limit was lowered to what it is here, and all pods know.
	// Then what a bucket owes beyond its burst is cut for good. Else each decision cuts
	// it for itself, since other pods may know a larger burst.
	Settled bool
	// Leased says that a part of what remains may be charged in advance, and spent
	// without asking the store: see leases. It holds for requests all of whose limits
	// are leased, and not for LeakyBucket, Concurrency and Correctable.
	Leased bool
	// PodScoped limits are counted in the memory of this process, see PodScope.
	PodScoped bool
	// share is the part to charge in advance, one in so many; 0 is none.
	share int64
	// OnStoreFailure decides while the store gives no verdict; absent is Local.
	OnStoreFailure ruleset.OnStoreFailure
	// LoosenessMilli is how much of its share a pod allows with Local, in
	// thousandths; absent is 1500.
	LoosenessMilli int64
	// LivePods is over how many pods a limit is shared with Local; absent is 1.
	LivePods int64
}

// Source says who decided.
type Source int

const (
	// Store is the shared store (or the memory that stands for it).
	Store Source = iota
	// Local is the in-process limiter, since the store gave no verdict.
	Local
	// StoreAllowed is onStoreFailure: Allow.
	StoreAllowed
	// StoreDenied is onStoreFailure: Deny.
	StoreDenied
)

// LimitState is one limit after the decision.
type LimitState struct {
	Kind, Policy, Rule, Limit string
	// Requests, Burst and Window are the limit as written, also with Local.
	Requests, Burst int64
	Window          time.Duration
	// Calendar is the period that is the window, then Window is 0; else nil.
	Calendar *ruleset.Calendar
	Identity string
	// Allowed says that this limit would admit the request.
	Allowed bool
	// Remaining is how many requests of cost 1 would be admitted now.
	Remaining int64
	// ResetAfter is the time until the limit is wholly unused if nothing comes.
	ResetAfter time.Duration
	// NextAfter is the time until Remaining grows; 0 when it is at its most.
	NextAfter time.Duration
	// RetryAfter is the time until this limit admits the same request; 0 when
	// it does now, and when it never will.
	RetryAfter time.Duration
	// Never says that the cost is more than the limit holds when unused.
	Never bool
	// Shadow says that the limit refuses nothing, and Drawn that it does not this time.
	Shadow, Drawn bool
	// Source is who decided on this limit. With StoreAllowed and StoreDenied
	// nobody counted: Remaining and the times are 0 and mean nothing.
	Source Source
}

// Decision is the verdict on one request.
type Decision struct {
	Allowed bool
	// RetryAfter is the time after which the same request alone is admitted: no
	// microsecond earlier. It is 0 for admitted requests and with Never.
	RetryAfter time.Duration
	// Never says that no waiting helps: the cost is more than a limit holds.
	Never bool
	// Delay is how long an admitted request waits before it goes on, since a
	// LeakyBucket lets requests out at a steady rate.
	Delay time.Duration
	// Receipt is what was charged, of an admitted request whose charges can or must be
	// corrected later. It is nil where there is none, and all its methods do nothing then.
	Receipt *Receipt
	// StoreTime is when the store decided, by its clock, in microseconds since the Unix
	// epoch; 0 if it did not, or not now: a refusal may be remembered.
	StoreTime int64
	// Limits are the states of all limits, the speaking one first and shadows last that are not drawn. A
	// refusal that is remembered has only those of the limits that refuse.
	Limits []LimitState
	// Source is who decided; of several, the one that weighs most: StoreDenied,
	// then Local, then StoreAllowed.
	Source Source
}

// Decider decides on the limits that a request meets. A verdict is never an
// error: an error says that none could be reached, and the caller applies each
// check's OnStoreFailure.
type Decider interface {
	Decide(ctx context.Context, namespace string, checks []Check) (Decision, error)
}
