// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package store

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"
)

// ledger is an AckWriter that notes what was written and when.
type ledger struct {
	started time.Time
	acks    []Ack
	at      []time.Duration
	fail    error
	tried   int
}

func (l *ledger) WriteAck(_ context.Context, _ string, ack Ack) error {
	l.tried++
	if l.fail != nil {
		return l.fail
	}
	l.acks = append(l.acks, ack)
	l.at = append(l.at, time.Since(l.started))
	return nil
}

func (l *ledger) last() Ack { return l.acks[len(l.acks)-1] }

func TestAckerWritesAtOnceOnChangeAndAtEachBeat(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		written := &ledger{started: time.Now()}
		acker := NewAcker(shop, Ack{PodUID: "u", Version: "v1"}, AckerOptions{
			Sample: func(ack *Ack) { ack.Undecided = 4 },
		})
		start(t, func(ctx context.Context) { acker.Run(ctx, written) })
		synctest.Wait()
		if len(written.acks) != 1 || written.last().Undecided != 4 {
			t.Fatalf("acks at the start %+v, want one that was completed", written.acks)
		}
		time.Sleep(time.Second)
		acker.Set(Standing{Sequence: 5, Revision: "r", Problem: "p"})
		synctest.Wait()
		want := Ack{PodUID: "u", Version: "v1", Sequence: 5, Revision: "r", Problem: "p", Undecided: 4}
		if len(written.acks) != 2 || written.last() != want || written.at[1] != time.Second {
			t.Errorf("acks %+v at %v, want at once %+v", written.acks, written.at, want)
		}
		time.Sleep(time.Minute)
		synctest.Wait()
		for i := 2; i < len(written.at); i++ {
			gap := written.at[i] - written.at[i-1]
			if gap < 8*time.Second || gap > 12*time.Second {
				t.Errorf("beat %d came after %v, want 10 s ± 20 %%", i, gap)
			}
		}
		if n := len(written.at); n < 6 {
			t.Errorf("%d acks in a minute, want about 8", n)
		}
	})
}

func TestAckerSurvivesAnOutage(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		written := &ledger{started: time.Now(), fail: errors.New("down")}
		var reports []error
		acker := NewAcker(shop, Ack{PodUID: "u"}, AckerOptions{Report: func(err error) { reports = append(reports, err) }})
		start(t, func(ctx context.Context) { acker.Run(ctx, written) })
		acker.Set(Standing{Sequence: 5})
		time.Sleep(time.Minute)
		synctest.Wait()
		if written.tried < 10 || written.tried > 25 {
			t.Errorf("%d attempts in a minute of outage, want about 15", written.tried)
		}
		written.fail = nil
		time.Sleep(lastRetry * 2)
		synctest.Wait()
		if len(written.acks) == 0 || written.last().Sequence != 5 {
			t.Errorf("acks after the outage %+v, want that of sequence 5", written.acks)
		}
		if len(reports) != 2 || reports[0] == nil || reports[1] != nil {
			t.Errorf("reports %v, want one of the outage and one of its end", reports)
		}
	})
}
