// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"time"
)

// longestWait bounds how long a request may ask the app to think.
const longestWait = 30 * time.Second

// outcome is how a request asks to be answered, by its query.
type outcome struct {
	status int
	cost   string
	wait   time.Duration
}

// outcomeOf reads status, cost and wait; what is absent is 200, no cost, at once.
func outcomeOf(query url.Values) (outcome, error) {
	o := outcome{status: http.StatusOK, cost: query.Get("cost")}
	if text := query.Get("status"); text != "" {
		status, err := strconv.Atoi(text)
		if err != nil || status < 200 || status > 599 {
			return outcome{}, fmt.Errorf("status %q is not between 200 and 599", text)
		}
		o.status = status
	}
	if text := query.Get("wait"); text != "" {
		wait, err := time.ParseDuration(text)
		if err != nil || wait < 0 || wait > longestWait {
			return outcome{}, fmt.Errorf("wait %q is no duration between 0 and %s", text, longestWait)
		}
		o.wait = wait
	}
	return o, nil
}

// await returns once the app has thought, or the client has left.
func (o outcome) await(request *http.Request) {
	if o.wait == 0 {
		return
	}
	thought := time.NewTimer(o.wait)
	defer thought.Stop()
	select {
	case <-thought.C:
	case <-request.Context().Done():
	}
}
