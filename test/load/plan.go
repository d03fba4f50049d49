// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"sync"
	"sync/atomic"
	"time"
)

// plan is what to send.
type plan struct {
	URL         string
	Requests    int
	Concurrency int
	Rate        int
	KeepAlive   bool
	Timeout     time.Duration
}

// result counts the answers.
type result struct {
	Status     map[string]int `json:"status"` // by status code
	Pods       map[string]int `json:"pods"`   // by the "pod" of a JSON answer
	Errors     int            `json:"errors"` // requests without an answer
	FirstError string         `json:"firstError,omitempty"`
}

func (p plan) validate() error {
	target, err := url.Parse(p.URL)
	switch {
	case err != nil:
		return fmt.Errorf("--url: %w", err)
	case target.Host == "":
		return fmt.Errorf("--url %q has no host: give one like http://echo.default/", p.URL)
	case p.Requests < 1 || p.Requests > 1_000_000:
		return fmt.Errorf("--requests %d is not between 1 and 1000000", p.Requests)
	case p.Concurrency < 1 || p.Concurrency > 1000:
		return fmt.Errorf("--concurrency %d is not between 1 and 1000", p.Concurrency)
	case p.Rate < 0:
		return fmt.Errorf("--rate %d is negative", p.Rate)
	case p.Timeout <= 0:
		return fmt.Errorf("--timeout %s is not positive", p.Timeout)
	}
	return nil
}

// run sends every request of the plan once and waits for all answers.
func (p plan) run(ctx context.Context) result {
	client := &http.Client{
		Timeout:       p.Timeout,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		// A connection for each request: a Service chooses the replica by connection.
		Transport: &http.Transport{DisableKeepAlives: !p.KeepAlive, MaxIdleConnsPerHost: p.Concurrency},
	}
	method := http.MethodGet
	if p.KeepAlive {
		method = http.MethodPost
	}
	began := time.Now()
	r := result{Status: map[string]int{}, Pods: map[string]int{}}
	var mutex sync.Mutex
	var sent atomic.Int64
	var workers sync.WaitGroup
	for range min(p.Concurrency, p.Requests) {
		workers.Go(func() {
			for number := sent.Add(1); number <= int64(p.Requests); number = sent.Add(1) {
				p.awaitTurn(ctx, began, number)
				status, pod, err := send(ctx, client, method, p.URL)
				mutex.Lock()
				r.add(status, pod, err)
				mutex.Unlock()
			}
		})
	}
	workers.Wait()
	return r
}

// awaitTurn waits until a request is due.
func (p plan) awaitTurn(ctx context.Context, began time.Time, number int64) {
	if p.Rate == 0 {
		return
	}
	due := time.NewTimer(time.Until(began.Add(time.Duration(number) * time.Second / time.Duration(p.Rate))))
	defer due.Stop()
	select {
	case <-due.C:
	case <-ctx.Done():
	}
}

func (r *result) add(status int, pod string, err error) {
	if err != nil {
		r.Errors++
		if r.FirstError == "" {
			r.FirstError = err.Error()
		}
		return
	}
	r.Status[strconv.Itoa(status)]++
	if pod != "" {
		r.Pods[pod]++
	}
}

func send(ctx context.Context, client *http.Client, method, target string) (status int, pod string, err error) {
	request, err := http.NewRequestWithContext(ctx, method, target, nil)
	if err != nil {
		return 0, "", fmt.Errorf("make a request: %w", err)
	}
	response, err := client.Do(request)
	if err != nil {
		return 0, "", err
	}
	defer response.Body.Close()
	body, err := io.ReadAll(io.LimitReader(response.Body, 1<<20))
	if err != nil {
		return 0, "", errors.Join(errors.New("read the answer"), err)
	}
	var answer struct{ Pod string }
	// An answer that is no JSON, such as one of a proxy, names no pod.
	_ = json.Unmarshal(body, &answer)
	return response.StatusCode, answer.Pod, nil
}
