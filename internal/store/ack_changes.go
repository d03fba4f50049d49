// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package store

import (
	"context"

	"github.com/redis/go-redis/v9"
)

// AckChanges returns the namespaces whose acks change, until the context ends;
// then the channel is closed. Changes that nobody has taken yet are merged by
// namespace, so a slow reader misses none and holds up nobody. What happens while
// the connection is lost is not told: read all acks now and then besides.
func (s *Store) AckChanges(ctx context.Context) <-chan string {
	namespaces := make(chan string)
	subscription := s.client.PSubscribe(ctx, s.prefix.AllAcks())
	go func() {
		defer close(namespaces)
		defer func() { _ = subscription.Close() }()
		s.forward(ctx, subscription.Channel(), namespaces)
	}()
	return namespaces
}

func (s *Store) forward(ctx context.Context, messages <-chan *redis.Message, namespaces chan<- string) {
	var waiting []string // in order of arrival, without duplicates
	queued := map[string]bool{}
	for {
		// A nil channel is never ready: without a waiting namespace nothing is sent.
		var out chan<- string
		var next string
		if len(waiting) > 0 {
			out, next = namespaces, waiting[0]
		}
		select {
		case <-ctx.Done():
			return
		case out <- next:
			delete(queued, next)
			waiting = waiting[1:]
		case message, open := <-messages:
			if !open {
				return
			}
			namespace, ok := s.prefix.NamespaceOfAcks(message.Channel)
			if ok && !queued[namespace] {
				queued[namespace] = true
				waiting = append(waiting, namespace)
			}
		}
	}
}
