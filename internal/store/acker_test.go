// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package store

import (
	"context"
	"errors"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
)

// ledger is an AckWriter that notes what was written and when.
type ledger struct {
	started time.Time

	mu     sync.Mutex
	fail   error
	tried  int
	acks   []Ack
	stamps []time.Duration
}

func (l *ledger) WriteAck(_ context.Context, _ string, ack Ack) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.tried++
	if l.fail != nil {
		return l.fail
	}
	l.acks = append(l.acks, ack)
	l.stamps = append(l.stamps, time.Since(l.started))
	return nil
}

func (l *ledger) setFailure(err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.fail = err
}

// written returns the acks and when each was written, and how often it was tried.
func (l *ledger) written() (acks []Ack, stamps []time.Duration, tried int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.Clone(l.acks), slices.Clone(l.stamps), l.tried
}

func TestAckerWritesAtOnceOnChangeAndAtEachBeat(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		writer := &ledger{started: time.Now()}
		acker := NewAcker(shop, Ack{PodUID: "u", Version: "v1"}, AckerOptions{
			Sample: func(ack *Ack) { ack.Undecided = 4 },
		})
		start(t, func(ctx context.Context) { acker.Run(ctx, writer) })
		synctest.Wait()
		acks, _, _ := writer.written()
		if len(acks) != 1 || acks[0].Undecided != 4 {
			t.Fatalf("acks at the start %+v, want one that was completed", acks)
		}
		time.Sleep(time.Second)
		acker.Set(Standing{Sequence: 5, Revision: "r", Problem: "p"})
		synctest.Wait()
		want := Ack{PodUID: "u", Version: "v1", Sequence: 5, Revision: "r", Problem: "p", Undecided: 4}
		acks, stamps, _ := writer.written()
		if len(acks) != 2 || !cmp.Equal(acks[1], want) || stamps[1] != time.Second {
			t.Errorf("acks %+v at %v, want at once %+v", acks, stamps, want)
		}
		time.Sleep(time.Minute)
		synctest.Wait()
		_, stamps, _ = writer.written()
		for i := 2; i < len(stamps); i++ {
			gap := stamps[i] - stamps[i-1]
			if gap < 8*time.Second || gap > 12*time.Second {
				t.Errorf("beat %d came after %v, want 10 s ± 20 %%", i, gap)
			}
		}
		if n := len(stamps); n < 6 {
			t.Errorf("%d acks in a minute, want about 8", n)
		}
	})
}

func TestAckerSurvivesAnOutage(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		writer := &ledger{started: time.Now(), fail: errors.New("down")}
		reports := make(chan error, 10)
		acker := NewAcker(shop, Ack{PodUID: "u"}, AckerOptions{Report: func(err error) { reports <- err }})
		start(t, func(ctx context.Context) { acker.Run(ctx, writer) })
		acker.Set(Standing{Sequence: 5})
		time.Sleep(time.Minute)
		synctest.Wait()
		if _, _, tried := writer.written(); tried < 10 || tried > 25 {
			t.Errorf("%d attempts in a minute of outage, want about 15", tried)
		}
		writer.setFailure(nil)
		time.Sleep(lastRetry * 2)
		synctest.Wait()
		if acks, _, _ := writer.written(); len(acks) == 0 || acks[0].Sequence != 5 {
			t.Errorf("acks after the outage %+v, want that of sequence 5", acks)
		}
		if len(reports) != 2 || <-reports == nil || <-reports != nil {
			t.Error("want two reports, one of the outage and one of its end")
		}
	})
}
