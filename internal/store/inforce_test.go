// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package store

import (
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/penstock-dev/penstock/internal/ruleset"
)

// observer records what an InForce does, in order.
type observer struct {
	applied   []Update
	standings []Standing
	// appliedBefore is how many updates were applied when each standing was told.
	appliedBefore []int
	fail          error
}

func (o *observer) events() Events {
	return Events{
		Apply: func(update Update) error {
			if o.fail != nil {
				return o.fail
			}
			o.applied = append(o.applied, update)
			return nil
		},
		Changed: func(standing Standing) {
			o.standings = append(o.standings, standing)
			o.appliedBefore = append(o.appliedBefore, len(o.applied))
		},
	}
}

func snapshot(t *testing.T, sequence int64, rs *ruleset.RuleSet) ruleset.Published {
	t.Helper()
	body, revision, err := ruleset.Encode(rs)
	if err != nil {
		t.Fatal(err)
	}
	return ruleset.Published{Sequence: sequence, Revision: revision, Body: body}
}

func TestInForceNeverGoesBackToAnOlderSequence(t *testing.T) {
	t.Parallel()
	seen := &observer{}
	f := NewInForce(shop, seen.events())
	for _, step := range []struct {
		sequence int64
		revision string
	}{{10, "a"}, {9, "b"}, {10, "c"}, {11, "d"}, {1, "e"}} {
		if err := f.Offer(snapshot(t, step.sequence, policies("web="+step.revision))); err != nil {
			t.Fatalf("Offer %d: %v", step.sequence, err)
		}
	}
	var got []int64
	for _, update := range seen.applied {
		got = append(got, update.Sequence)
	}
	if diff := cmp.Diff([]int64{10, 11}, got); diff != "" {
		t.Errorf("sequences put in force (-want +got):\n%s", diff)
	}
	if standing := f.Standing(); standing.Sequence != 11 {
		t.Errorf("standing %+v, want sequence 11", standing)
	}
}

func TestInForceTellsOnlyAfterApplying(t *testing.T) {
	t.Parallel()
	seen := &observer{}
	f := NewInForce(shop, seen.events())
	first, second := snapshot(t, 1, policies("web=a")), snapshot(t, 2, policies("web=b"))
	for _, published := range []ruleset.Published{first, second} {
		if err := f.Offer(published); err != nil {
			t.Fatal(err)
		}
	}
	want := []Standing{{Sequence: 1, Revision: first.Revision}, {Sequence: 2, Revision: second.Revision}}
	if diff := cmp.Diff(want, seen.standings); diff != "" {
		t.Errorf("standings told (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]int{1, 2}, seen.appliedBefore); diff != "" {
		t.Errorf("updates applied before each standing was told (-want +got):\n%s", diff)
	}
}

func TestInForceKeepsTheLastRuleSet(t *testing.T) {
	t.Parallel()
	newer := policies("web=b")
	newer.Format = ruleset.Format + 1
	elsewhere := policies("web=b")
	elsewhere.Namespace = "blog"
	cases := map[string]struct {
		bad         ruleset.Published
		fail        error
		wantErr     error
		wantProblem string
	}{
		"newer format":      {bad: snapshot(t, 2, newer), wantErr: ruleset.ErrUnsupportedFormat, wantProblem: ProblemUnsupportedFormat},
		"damaged body":      {bad: ruleset.Published{Sequence: 2, Revision: "x", Body: []byte("x")}, wantErr: ErrCorrupt, wantProblem: ProblemInvalidRuleSet},
		"no body":           {bad: ruleset.Published{Sequence: 2, Revision: "x"}, wantErr: ErrCorrupt, wantProblem: ProblemInvalidRuleSet},
		"another namespace": {bad: snapshot(t, 2, elsewhere), wantErr: ErrCorrupt, wantProblem: ProblemInvalidRuleSet},
		"does not compile":  {bad: snapshot(t, 2, policies("web=b")), fail: errCompile, wantErr: errCompile, wantProblem: ProblemInvalidRuleSet},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			seen := &observer{}
			f := NewInForce(shop, seen.events())
			good := snapshot(t, 1, policies("web=a"))
			if err := f.Offer(good); err != nil {
				t.Fatal(err)
			}
			seen.fail = tc.fail
			if err := f.Offer(tc.bad); !errors.Is(err, tc.wantErr) {
				t.Errorf("Offer: %v, want %v", err, tc.wantErr)
			}
			seen.fail = nil
			want := Standing{Sequence: 1, Revision: good.Revision, Problem: tc.wantProblem}
			if diff := cmp.Diff(want, f.Standing()); diff != "" {
				t.Errorf("standing (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(want, seen.standings[len(seen.standings)-1]); diff != "" {
				t.Errorf("last standing told (-want +got):\n%s", diff)
			}
			if len(seen.applied) != 1 {
				t.Errorf("%d rule sets were put in force, want the first only", len(seen.applied))
			}
			mended := snapshot(t, 3, policies("web=c"))
			if err := f.Offer(mended); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(Standing{Sequence: 3, Revision: mended.Revision}, f.Standing()); diff != "" {
				t.Errorf("standing after the next publication (-want +got):\n%s", diff)
			}
		})
	}
}

var errCompile = errors.New("does not compile")

func TestInForceNeedsNoBodyForTheSameRevision(t *testing.T) {
	t.Parallel()
	seen := &observer{}
	f := NewInForce(shop, seen.events())
	first := snapshot(t, 1, policies("web=a"))
	if err := f.Offer(first); err != nil {
		t.Fatal(err)
	}
	again := head{sequence: 2, revision: first.Revision, format: ruleset.Format}
	if news, body := f.wants(again); !news || body {
		t.Errorf("wants = %t, %t; want news without a body", news, body)
	}
	err := f.accept(again, func() []byte {
		t.Error("the body was asked for")
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(Standing{Sequence: 2, Revision: first.Revision}, f.Standing()); diff != "" {
		t.Errorf("standing (-want +got):\n%s", diff)
	}
}

func TestInForceTakesLivePodsOfWhatIsInForceOnly(t *testing.T) {
	t.Parallel()
	seen := &observer{}
	f := NewInForce(shop, seen.events())
	first := snapshot(t, 5, policies("web=a"))
	if err := f.Offer(first); err != nil {
		t.Fatal(err)
	}
	three := map[string]int64{PolicyKey(kind, "web"): 3}
	for _, found := range []head{
		{sequence: 5, revision: first.Revision, live: three},
		{sequence: 5, revision: first.Revision, live: three},
		{sequence: 4, revision: first.Revision, live: map[string]int64{PolicyKey(kind, "web"): 9}},
		{sequence: 5, revision: first.Revision},
	} {
		if err := f.accept(found, func() []byte { return nil }); err != nil {
			t.Fatal(err)
		}
	}
	if len(seen.applied) != 2 {
		t.Fatalf("%d updates, want the snapshot and one with other live pods", len(seen.applied))
	}
	if diff := cmp.Diff(three, seen.applied[1].LivePods); diff != "" {
		t.Errorf("live pods (-want +got):\n%s", diff)
	}
	if len(seen.standings) != 1 {
		t.Errorf("%d standings told, want 1: live pods change none", len(seen.standings))
	}
}

func TestInForceIgnoresAnEmptySnapshot(t *testing.T) {
	t.Parallel()
	seen := &observer{}
	f := NewInForce(shop, seen.events())
	if err := f.Offer(ruleset.Published{}); err != nil {
		t.Errorf("Offer: %v", err)
	}
	if len(seen.applied)+len(seen.standings) != 0 {
		t.Error("an empty snapshot was put in force")
	}
}

// TestInForceTakesFromTheStoreWhatASnapshotDamaged has a snapshot that somebody
// edited by hand: the publication of its number is still good in the store.
func TestInForceTakesFromTheStoreWhatASnapshotDamaged(t *testing.T) {
	t.Parallel()
	seen := &observer{}
	f := NewInForce(shop, seen.events())
	published := snapshot(t, 10, policies("web=a"))
	damaged := published
	damaged.Body = []byte("garbage")
	if err := f.Offer(damaged); !errors.Is(err, ErrCorrupt) {
		t.Fatalf("Offer of garbage = %v, want ErrCorrupt", err)
	}
	if standing := f.Standing(); standing.Problem != ProblemInvalidRuleSet {
		t.Errorf("standing %+v, want the problem %s", standing, ProblemInvalidRuleSet)
	}
	found := head{sequence: published.Sequence, revision: published.Revision, format: ruleset.Format}
	if news, body := f.wants(found); !news || !body {
		t.Fatalf("wants = %v, %v: the store's copy is not read", news, body)
	}
	if err := f.accept(found, func() []byte { return published.Body }); err != nil {
		t.Fatal(err)
	}
	want := Standing{Sequence: published.Sequence, Revision: published.Revision}
	if diff := cmp.Diff(want, f.Standing()); diff != "" {
		t.Errorf("standing (-want +got):\n%s", diff)
	}
}

func TestInForceReadsNoBodyOfANewerFormat(t *testing.T) {
	t.Parallel()
	seen := &observer{}
	f := NewInForce(shop, seen.events())
	// The body would decode: the format that the store names is believed first.
	published := snapshot(t, 1, policies("web=a"))
	found := head{sequence: 1, revision: published.Revision, format: ruleset.Format + 1}
	if err := f.accept(found, func() []byte { return published.Body }); !errors.Is(err, ruleset.ErrUnsupportedFormat) {
		t.Errorf("accept: %v, want ErrUnsupportedFormat", err)
	}
	if diff := cmp.Diff(Standing{Problem: ProblemUnsupportedFormat}, f.Standing()); diff != "" {
		t.Errorf("standing (-want +got):\n%s", diff)
	}
}
