// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package limiter

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"
)

// TestWhoWasSentLooksOnceMore has the answer to a request come some time after the
// request's deadline, which is 25 ms.
func TestWhoWasSentLooksOnceMore(t *testing.T) {
	t.Parallel()
	const deadline = 25 * time.Millisecond
	tests := map[string]struct {
		// answered is when the call ends that has the request.
		answered time.Duration
		queued   bool
		leaves   bool
		wantErr  error
		wantTook time.Duration
	}{
		"in time":        {answered: deadline - 1, wantTook: deadline - 1},
		"a moment late":  {answered: deadline + lateness - 1, wantTook: deadline + lateness - 1},
		"too late":       {answered: deadline + lateness + 1, wantErr: context.DeadlineExceeded, wantTook: deadline + lateness},
		"never sent":     {answered: deadline + 1, queued: true, wantErr: context.DeadlineExceeded, wantTook: deadline},
		"client is gone": {answered: deadline - 1, leaves: true, wantErr: context.Canceled, wantTook: time.Millisecond},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				ctx, leave := context.WithCancel(t.Context())
				defer leave()
				began := time.Now()
				q := &request{ctx: ctx, deadline: began.Add(deadline), turn: make(chan *call, 1), queued: tc.queued}
				time.AfterFunc(tc.answered, func() { q.turn <- nil })
				if tc.leaves {
					time.AfterFunc(time.Millisecond, leave)
				}
				err := new(dispatcher).await(q)
				if took := time.Since(began); !errors.Is(err, tc.wantErr) || took != tc.wantTook {
					t.Errorf("ended after %v with %v, want %v with %v", took, err, tc.wantTook, tc.wantErr)
				}
				if q.queued {
					t.Error("it is still queued")
				}
				synctest.Wait()
			})
		})
	}
}
