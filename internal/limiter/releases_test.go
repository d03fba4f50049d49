// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package limiter

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/penstock-dev/penstock/internal/ruleset"
	"github.com/penstock-dev/penstock/test/redistest"
)

// TestPlacesAreFreeSoonAfterTheStoreHung has requests end, and others come and go, while
// the store hangs. Nobody holds a place after that: it must not take a lease until the
// limit knows.
func TestPlacesAreFreeSoonAfterTheStoreHung(t *testing.T) {
	t.Parallel()
	server := redistest.Start(t)
	client := clientOf(t, server)
	limiter := newRedis(t, sidecarOptions(t, server.Addr()), 25*time.Millisecond)
	warm(t, limiter)
	fallback := WithFallback(limiter, FallbackOptions{})
	check := concurrencyOf("a", 50)
	var receipts []*Receipt
	await(t, func() error {
		decision, err := limiter.Decide(t.Context(), "shop", []Check{check})
		if err == nil {
			receipts = append(receipts, decision.Receipt)
		}
		if len(receipts) < 40 {
			return errors.New("too few requests hold a place yet")
		}
		return nil
	})
	server.Pause()
	for _, receipt := range receipts {
		receipt.Cancel()
		decide(t, fallback, check).Receipt.Cancel()
	}
	server.Resume()
	requireFree(t, client, check)
	if lost := limiter.CorrectionsLost(); lost != 0 {
		t.Errorf("%d corrections were lost", lost)
	}
}

// TestAClientThatLeavesLeavesNoPlace has clients leave while the call that takes a place
// for them is under way.
func TestAClientThatLeavesLeavesNoPlace(t *testing.T) {
	t.Parallel()
	server := redistest.Start(t)
	client := clientOf(t, server)
	limiter := newRedis(t, client.Options(), patience)
	warm(t, limiter)
	check := concurrencyOf("a", 50)
	held := hold(t, limiter)
	ctx, leave := context.WithCancel(t.Context())
	ended := make(chan error)
	for range 20 {
		go func() {
			_, err := limiter.Decide(ctx, "shop", []Check{check})
			ended <- err
		}()
	}
	// One that stays makes the call.
	awaitQueue(t, limiter, 20)
	go func() {
		decision, err := limiter.Decide(t.Context(), "shop", []Check{check})
		decision.Receipt.Cancel()
		ended <- err
	}()
	awaitQueue(t, limiter, 21)
	server.Pause()
	for _, free := range held {
		limiter.only().dispatcher.release(free, false)
	}
	leave()
	for range 20 {
		if err := <-ended; !errors.Is(err, context.Canceled) {
			t.Errorf("error %v, want that the client left", err)
		}
	}
	server.Resume()
	if err := <-ended; err != nil {
		t.Errorf("who stayed got no answer: %v", err)
	}
	if most := client.ZCard(t.Context(), counterOf(check)).Val(); most == 0 {
		t.Error("no client left while its place was being taken: this test shows nothing")
	}
	requireFree(t, client, check)
}

func requireFree(t *testing.T, client *redis.Client, check Check) {
	t.Helper()
	await(t, func() error {
		if held := client.ZCard(t.Context(), counterOf(check)).Val(); held > 0 {
			return fmt.Errorf("%d places are held by nobody", held)
		}
		return nil
	})
}

// TestARefusedPartIsNotRenewed has a place at a node that works, and a limit that refuses
// since its node is gone: nobody will ever settle the place.
func TestARefusedPartIsNotRenewed(t *testing.T) {
	t.Parallel()
	c := startCluster(t)
	limiter := onCluster(t, clusterSettings(c))
	c.Nodes[1].Stop()
	defer c.Nodes[1].Restart()
	place, lost := concurrencyOf(clientAt(t, c, 0, 1), 9), tokenBucketOf(clientAt(t, c, 1, 1), 10, 10, time.Hour)
	lost.OnStoreFailure = ruleset.FailDeny
	_, err := limiter.Decide(t.Context(), "shop", []Check{place, lost})
	partial, ok := errors.AsType[*partialError](err)
	if !ok {
		t.Fatalf("error %v, want that a part has no verdict", err)
	}
	refused := partial.complete(Decision{Source: StoreDenied})
	if refused.Receipt != nil || partial.decision.Receipt != nil {
		t.Error("a request that is refused has a receipt, which renews its place for ever")
	}
	await(t, func() error {
		if left := decide(t, limiter, costing(place, 0)).Limits[0].Remaining; left != 9 {
			return fmt.Errorf("%d of 9 places are free", left)
		}
		return nil
	})
	admitted := partial.complete(Decision{Allowed: true, Source: StoreAllowed})
	if admitted.Receipt == nil {
		t.Error("a request that is admitted has no receipt")
	}
	admitted.Receipt.Cancel()
}

// TestPlacesAreHandedOver exchanges a limiter for one with other credentials while a
// request is answered.
func TestPlacesAreHandedOver(t *testing.T) {
	t.Parallel()
	client := clientOf(t, redistest.Start(t))
	before, after := newRedis(t, client.Options(), patience), newRedis(t, client.Options(), patience)
	check, charged := concurrencyOf("a", 1), fixedWindowOf("a", 9, ages)
	charged.Correctable = true
	receipt := decide(t, before, check, charged).Receipt
	before.HandOver(after)
	before.Close()
	// Its lease runs out.
	client.Del(t.Context(), counterOf(check))
	receipt.renew()
	await(t, func() error {
		decision := decide(t, after, check)
		decision.Receipt.Cancel()
		if decision.Allowed {
			return errors.New("the place of a request that is answered still went to another")
		}
		return nil
	})
	receipt.Cancel()
	requireFree(t, client, check)
	if lost := before.CorrectionsLost(); lost != 1 {
		t.Errorf("%d corrections were lost, want that of the window: it is none of the other's", lost)
	}
}
