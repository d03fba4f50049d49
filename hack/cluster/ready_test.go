// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"io"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

func TestNodeReady(t *testing.T) {
	t.Parallel()
	tests := map[string]struct{ body, want string }{
		"ready":     {`{"status":{"conditions":[{"type":"DiskPressure","status":"False"},{"type":"Ready","status":"True"}]}}`, ""},
		"not ready": {`{"status":{"conditions":[{"type":"Ready","status":"False","message":"no network"}]}}`, "no network"},
		"silent":    {`{"status":{}}`, "has not reported"},
		"no JSON":   {"oops", "read the node"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			err := nodeReady([]byte(tc.body))
			if got := errorText(err); (tc.want == "") != (err == nil) || !strings.Contains(got, tc.want) {
				t.Errorf("nodeReady() = %q, want %q", got, tc.want)
			}
		})
	}
}

func TestWaitForGivesTheLastReason(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		began := time.Now()
		err := waitFor(t.Context(), time.Minute, "a friend", func(context.Context) error { return errors.New("not home") })
		if got, want := errorText(err), "wait 1m0s for a friend: not home"; got != want {
			t.Errorf("waitFor() = %q, want %q", got, want)
		}
		if waited := time.Since(began); waited != time.Minute {
			t.Errorf("waited %s, want a minute", waited)
		}
	})
}

func TestFollow(t *testing.T) {
	t.Parallel()
	tests := map[string]struct{ report, want string }{
		"ready":    {`{"Step":"etcd"}{"Ready":true}`, ""},
		"failed":   {`{"Step":"etcd"}{"Failed":"etcd ended: exit status 1","Log":"etcd"}`, "etcd ended: exit status 1\nthe end of the log of etcd"},
		"cut off":  {`{"Step":"etcd"}`, "ended without a report"},
		"not even": {"", "ended without a report"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			err := follow(strings.NewReader(tc.report), io.Discard)
			if got := errorText(err); (tc.want == "") != (err == nil) || !strings.Contains(got, tc.want) {
				t.Errorf("follow() = %q, want %q", got, tc.want)
			}
		})
	}
}

func errorText(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}
