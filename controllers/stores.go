// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package controllers

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/event"

	"github.com/penstock-dev/penstock/api/v1alpha1"
	"github.com/penstock-dev/penstock/internal/compile"
	"github.com/penstock-dev/penstock/internal/redisconn"
	"github.com/penstock-dev/penstock/internal/store"
)

const (
	// storeTimeout bounds each exchange with a store.
	storeTimeout = 2 * time.Second
	// pauseAfterFailure is how long a store that failed is not asked again, so
	// that an outage does not hold up every namespace for a timeout each.
	pauseAfterFailure = time.Second
)

var (
	// errNoStore says that there is no RateLimitStore of that name.
	errNoStore = errors.New("no such RateLimitStore")
	// errNotImplemented says that a store needs what this version does not do.
	errNotImplemented = errors.New("store not accepted")
)

// liveStore is an open connection to a store.
type liveStore struct {
	*store.Store
	fingerprint string
	stop        context.CancelFunc
}

// Stores holds the connections to all stores. It connects when first asked, and
// anew when a store's settings change.
type Stores struct {
	reader, uncached client.Reader
	settings         settingsReader
	// acked is told the namespaces whose acks change.
	acked chan event.GenericEvent

	mu      sync.Mutex
	cluster string
	entries map[string]*storeEntry
}

type storeEntry struct {
	mu   sync.Mutex
	live *liveStore // nil: not connected
	// err is why it is not connected, or why it failed; it holds until retry.
	err   error
	retry time.Time
}

// NewStores returns a registry without connections. Stores are read through reader,
// Secrets uncached.
func NewStores(reader, uncached client.Reader, operatorNamespace string) *Stores {
	return &Stores{
		reader:   reader,
		uncached: uncached,
		settings: settingsReader{secrets: uncached, namespace: operatorNamespace},
		acked:    make(chan event.GenericEvent),
		entries:  map[string]*storeEntry{},
	}
}

// Start implements manager.Runnable: it closes all connections when the manager
// stops.
func (s *Stores) Start(ctx context.Context) error {
	<-ctx.Done()
	s.mu.Lock()
	names := slices.Collect(maps.Keys(s.entries))
	s.mu.Unlock()
	for _, name := range names {
		s.Forget(name)
	}
	return nil
}

func (s *Stores) entry(name string) *storeEntry {
	s.mu.Lock()
	defer s.mu.Unlock()
	entry, found := s.entries[name]
	if !found {
		entry = &storeEntry{}
		s.entries[name] = entry
	}
	return entry
}

// Get returns the connection to a store, or why there is none. The error wraps
// errNoStore if there is no such object.
func (s *Stores) Get(ctx context.Context, name string) (*liveStore, error) {
	entry := s.entry(name)
	entry.mu.Lock()
	defer entry.mu.Unlock()
	if time.Now().Before(entry.retry) {
		return entry.live, entry.err
	}
	if entry.live != nil {
		return entry.live, nil
	}
	object := &v1alpha1.RateLimitStore{}
	if err := s.reader.Get(ctx, client.ObjectKey{Name: name}, object); err != nil {
		if apierrors.IsNotFound(err) {
			return nil, fmt.Errorf("%w: %s", errNoStore, name)
		}
		return nil, fmt.Errorf("read store %q: %w", name, err)
	}
	err := s.connect(ctx, entry, object)
	return entry.live, err
}

// Connect checks the connection to a store and makes it anew where its settings
// changed.
func (s *Stores) Connect(ctx context.Context, object *v1alpha1.RateLimitStore) (*liveStore, error) {
	entry := s.entry(object.Name)
	entry.mu.Lock()
	defer entry.mu.Unlock()
	err := s.connect(ctx, entry, object)
	return entry.live, err
}

// Failed notes that a store gave no answer: for a moment nobody asks it.
func (s *Stores) Failed(name string, err error) {
	entry := s.entry(name)
	entry.mu.Lock()
	defer entry.mu.Unlock()
	entry.fail(err)
}

// Forget closes the connection to a store that is gone.
func (s *Stores) Forget(name string) {
	entry := s.entry(name)
	entry.mu.Lock()
	defer entry.mu.Unlock()
	entry.replace(nil, nil)
	entry.retry = time.Time{}
}

// connect leaves a connection in the entry or returns why there is none. One that
// only fails at present is kept: its client dials anew by itself.
func (s *Stores) connect(ctx context.Context, entry *storeEntry, object *v1alpha1.RateLimitStore) error {
	if problems := compile.Store(object); len(problems) > 0 {
		err := fmt.Errorf("%w: %s: %s", errNotImplemented, problems[0].Field, problems[0].Message)
		entry.replace(nil, err)
		return err
	}
	settings, err := s.settings.operator(ctx, object)
	if err != nil {
		entry.fail(err)
		return err
	}
	fingerprint, err := json.Marshal(settings)
	if err != nil {
		return fmt.Errorf("encode settings of store %q: %w", object.Name, err)
	}
	if entry.live != nil && entry.live.fingerprint == string(fingerprint) {
		return s.check(ctx, entry)
	}
	live, err := s.open(settings, string(fingerprint))
	if err != nil {
		entry.replace(nil, err)
		return err
	}
	if err := s.claim(ctx, live); err != nil {
		live.close()
		entry.replace(nil, nil)
		entry.fail(err)
		return err
	}
	entry.replace(live, nil)
	return nil
}

// check asks an open connection again. One whose prefix is another cluster's by now
// is dropped: nothing may be written there.
func (s *Stores) check(ctx context.Context, entry *storeEntry) error {
	err := s.claim(ctx, entry.live)
	switch {
	case errors.Is(err, store.ErrPrefixInUse):
		entry.replace(nil, err)
	case err != nil:
		entry.fail(err)
	default:
		entry.err, entry.retry = nil, time.Time{}
	}
	return err
}

// claim proves that the store answers and that its prefix is this cluster's.
func (s *Stores) claim(ctx context.Context, live *liveStore) error {
	uid, err := s.clusterUID(ctx)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, storeTimeout)
	defer cancel()
	return live.Owner(ctx, uid)
}

// clusterUID is the uid of kube-system, by which the cluster is known.
func (s *Stores) clusterUID(ctx context.Context) (string, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.cluster != "" {
		return s.cluster, nil
	}
	system := &corev1.Namespace{}
	if err := s.uncached.Get(ctx, client.ObjectKey{Name: metav1.NamespaceSystem}, system); err != nil {
		return "", fmt.Errorf("read the cluster's identity: %w", err)
	}
	s.cluster = string(system.UID)
	return s.cluster, nil
}

func (s *Stores) open(settings redisconn.Settings, fingerprint string) (*liveStore, error) {
	opened, err := store.Open(settings)
	if err != nil {
		return nil, err
	}
	ctx, stop := context.WithCancel(context.Background())
	live := &liveStore{
		Store:       opened,
		fingerprint: fingerprint,
		stop:        stop,
	}
	go s.forwardAcks(ctx, live)
	return live, nil
}

// forwardAcks turns changed acks into events for the namespaces' reconciler.
func (s *Stores) forwardAcks(ctx context.Context, live *liveStore) {
	for namespace := range live.AckChanges(ctx) {
		changed := event.GenericEvent{Object: &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: namespace}}}
		select {
		case s.acked <- changed:
		case <-ctx.Done():
			return
		}
	}
}

func (e *storeEntry) fail(err error) {
	e.err, e.retry = err, time.Now().Add(pauseAfterFailure)
}

func (e *storeEntry) replace(live *liveStore, err error) {
	if e.live != nil {
		e.live.close()
	}
	e.live, e.err = live, err
	e.retry = time.Time{}
	if err != nil {
		e.retry = time.Now().Add(pauseAfterFailure)
	}
}

func (l *liveStore) close() {
	l.stop()
	// Closing fails only for connections that are broken already.
	_ = l.Close()
}
