// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package store

import (
	"context"
	_ "embed"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/redis/go-redis/v9"
)

//go:embed write_ack.lua
var writeAckSource string

//go:embed read_acks.lua
var readAcksSource string

var (
	writeAckScript = redis.NewScript(writeAckSource)
	readAcksScript = redis.NewScript(readAcksSource)
)

const (
	// acksTTL is how long the acks of a namespace outlive its last beat.
	acksTTL = time.Hour
	// pruneChunk bounds one deletion, so that it never holds up a decision.
	pruneChunk = 500
)

// Ack is what a sidecar tells about itself.
type Ack struct {
	PodUID  string `json:"-"`
	PodName string `json:"podName"`
	// Sequence and Revision are those of the rule set in force in the pod.
	Sequence int64  `json:"sequence"`
	Revision string `json:"revision,omitempty"`
	// Version is the sidecar's.
	Version string `json:"version,omitempty"`
	// Problem says why a newer rule set is not in force; see the constants.
	Problem string `json:"problem,omitempty"`
	// BreakerOpen says that decisions do without the store at present.
	BreakerOpen bool `json:"breakerOpen,omitempty"`
	// Undecided counts the decisions that the store gave no verdict on, since the
	// sidecar started.
	Undecided int64 `json:"undecided,omitempty"`
	// NotHTTP are the ports of the app that serve TLS, of which nothing is limited.
	NotHTTP []int32 `json:"notHTTP,omitempty"`
	// PeerIsProxy are the policies, by PolicyKey, that take a proxy for the client, and
	// the header in which it tells of its client.
	PeerIsProxy map[string]string `json:"peerIsProxy,omitempty"`
	// Time is when the ack was written, by the store's clock. Written acks are
	// stamped by the store; it is not sent.
	Time time.Time `json:"-"`
}

// WriteAck writes a pod's ack and announces it if it says something new.
func (s *Store) WriteAck(ctx context.Context, namespace string, ack Ack) error {
	if ack.PodUID == "" {
		return fmt.Errorf("write ack of pod %q in namespace %q: it has no uid", ack.PodName, namespace)
	}
	content, err := json.Marshal(ack)
	if err != nil {
		return fmt.Errorf("encode ack of pod %q: %w", ack.PodName, err)
	}
	err = writeAckScript.Run(ctx, s.client, []string{s.prefix.Acks(namespace)},
		ack.PodUID, content, acksTTL.Milliseconds()).Err()
	if err != nil {
		return fmt.Errorf("write ack of pod %q in namespace %q: %w", ack.PodName, namespace, err)
	}
	return nil
}

// ReadAcks returns the acks of a namespace by pod uid, and the store's time, to
// judge their age with. An entry that cannot be read is left out: that pod counts
// as silent until its next beat writes it anew.
func (s *Store) ReadAcks(ctx context.Context, namespace string) (map[string]Ack, time.Time, error) {
	values, err := readAcksScript.Run(ctx, s.client, []string{s.prefix.Acks(namespace)}).StringSlice()
	if err != nil {
		return nil, time.Time{}, fmt.Errorf("read acks of namespace %q: %w", namespace, err)
	}
	if len(values)%2 != 1 {
		return nil, time.Time{}, fmt.Errorf("read acks of namespace %q: script read_acks.lua returned %d values, want an odd number", namespace, len(values))
	}
	now, err := parseMicros(values[0])
	if err != nil {
		return nil, time.Time{}, fmt.Errorf("read acks of namespace %q: script read_acks.lua returned time %q: %w", namespace, values[0], err)
	}
	acks := make(map[string]Ack, len(values)/2)
	for i := 1; i < len(values); i += 2 {
		if ack, err := parseAck(values[i], values[i+1]); err == nil {
			acks[ack.PodUID] = ack
		}
	}
	return acks, now, nil
}

// PruneAcks deletes the acks of pods that are gone.
func (s *Store) PruneAcks(ctx context.Context, namespace string, podUIDs []string) error {
	for len(podUIDs) > 0 {
		chunk := podUIDs[:min(len(podUIDs), pruneChunk)]
		podUIDs = podUIDs[len(chunk):]
		if err := s.client.HDel(ctx, s.prefix.Acks(namespace), chunk...).Err(); err != nil {
			return fmt.Errorf("prune acks of namespace %q: %w", namespace, err)
		}
	}
	return nil
}

// parseAck reads "<time in µs> <JSON>".
func parseAck(podUID, value string) (Ack, error) {
	stamp, content, _ := strings.Cut(value, " ")
	written, err := parseMicros(stamp)
	if err != nil {
		return Ack{}, fmt.Errorf("time of ack %q: %w", podUID, err)
	}
	ack := Ack{}
	if err := json.Unmarshal([]byte(content), &ack); err != nil {
		return Ack{}, fmt.Errorf("ack %q: %w", podUID, err)
	}
	ack.PodUID, ack.Time = podUID, written
	return ack, nil
}

func parseMicros(value string) (time.Time, error) {
	micros, err := strconv.ParseInt(value, 10, 64)
	if err != nil {
		return time.Time{}, err
	}
	return time.UnixMicro(micros), nil
}
