// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"time"
)

// httpClient opens a connection per request, as many clients would.
var httpClient = &http.Client{Timeout: 5 * time.Second, Transport: &http.Transport{DisableKeepAlives: true}}

// attempt is a request that was sent and what came of it.
type attempt struct {
	number     int
	replica    string
	status     int
	remaining  string
	retryAfter string
}

// sendInTurn sends requests to the replicas in turn, through the port that a
// Service which targets the port's name would use.
func sendInTurn(ctx context.Context, replicas []replica, count int) ([]attempt, error) {
	attempts := make([]attempt, 0, count)
	for i := range count {
		target := replicas[i%len(replicas)]
		request, err := http.NewRequestWithContext(ctx, http.MethodGet, fmt.Sprintf("http://%s:%d/", target.address, target.port), http.NoBody)
		if err != nil {
			return nil, err
		}
		answer, err := httpClient.Do(request)
		if err != nil {
			return nil, fmt.Errorf("request %d to %s: %w", i+1, target.name, err)
		}
		_, _ = io.Copy(io.Discard, answer.Body)
		answer.Body.Close()
		attempts = append(attempts, attempt{
			number: i + 1, replica: target.name, status: answer.StatusCode,
			remaining: answer.Header.Get("X-RateLimit-Remaining"), retryAfter: answer.Header.Get("Retry-After"),
		})
	}
	return attempts, nil
}

// countOf asks an app how many requests it has seen, past the sidecar.
func countOf(ctx context.Context, r replica) (int, error) {
	text, err := get(ctx, "http://"+r.app+"/count")
	if err != nil {
		return 0, fmt.Errorf("ask %s for its count: %w", r.name, err)
	}
	var answer struct{ Count int }
	if err := json.Unmarshal(text, &answer); err != nil {
		return 0, fmt.Errorf("ask %s for its count: %w", r.name, err)
	}
	return answer.Count, nil
}

func succeeds(ctx context.Context, url string) bool {
	_, err := get(ctx, url)
	return err == nil
}

func get(ctx context.Context, url string) ([]byte, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, http.NoBody)
	if err != nil {
		return nil, err
	}
	answer, err := httpClient.Do(request)
	if err != nil {
		return nil, err
	}
	defer answer.Body.Close()
	if answer.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("%s answered %s", url, answer.Status)
	}
	return io.ReadAll(io.LimitReader(answer.Body, 4<<20))
}
