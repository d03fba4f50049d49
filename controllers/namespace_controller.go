// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package controllers

import (
	"context"
	"errors"
	"math/rand/v2"
	"time"

	"k8s.io/client-go/tools/events"
	"k8s.io/client-go/util/flowcontrol"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	logf "sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/penstock-dev/penstock/internal/ruleset"
)

// poll is how often each namespace is looked at when nothing is heard of it: what
// an announcement that got lost would have told, and a key deleted by hand.
const poll = 5 * time.Second

// NamespaceReconciler keeps a namespace's rule set in the store and reports what
// its pods enforce.
type NamespaceReconciler struct {
	reader   client.Reader
	writer   client.Client
	stores   *Stores
	secrets  *SidecarSecrets
	identity *Identity
	events   events.EventRecorder
	// outageWrites bounds the status writes that a store outage causes.
	outageWrites flowcontrol.PassiveRateLimiter
	memories     *memories
	now          func() time.Time
}

// Reconcile makes one pass over a namespace: gather, compile, publish, measure,
// report.
func (r *NamespaceReconciler) Reconcile(ctx context.Context, request ctrl.Request) (ctrl.Result, error) {
	s, err := readScope(ctx, r.reader, request.Name)
	if err != nil {
		return ctrl.Result{}, err
	}
	m := r.memories.of(s.name)
	if !s.served() {
		return r.leave(ctx, s, m)
	}
	m.left, m.nextLook = false, poll-time.Duration(rand.Int64N(int64(poll/5)))
	name := storeName(s.namespace)
	r.moveTo(ctx, s, m, name)

	live, storeErr := r.stores.Get(ctx, name)
	if loadErr := r.loadPublished(ctx, s, m, live, storeErr); loadErr != nil {
		storeErr = errors.Join(storeErr, loadErr)
	}
	output, err := r.compiled(ctx, s, m)
	if err != nil {
		return ctrl.Result{}, err
	}
	measured := r.program(ctx, s, m, live, output.RuleSet, storeErr)
	if err := errors.Join(
		r.report(ctx, s, m, output, measured),
		r.syncSecret(ctx, s, m, name),
	); err != nil {
		return ctrl.Result{}, err
	}
	return ctrl.Result{RequeueAfter: m.nextLook}, nil
}

// measurement is what the store told in one pass.
type measurement struct {
	acks ackView
	// storeError is why it told nothing; nil where it did.
	storeError error
	// setLive writes the live pods of each policy; nil without a store.
	setLive func(context.Context, map[string]int64) error
}

// program publishes the rule set and reads what the pods acknowledge.
func (r *NamespaceReconciler) program(ctx context.Context, s *scope, m *memory, live *liveStore, rs *ruleset.RuleSet, storeErr error) measurement {
	result := measurement{acks: ackView{now: r.now()}, storeError: storeErr}
	if storeErr == nil {
		ctx, cancel := context.WithTimeout(ctx, storeTimeout)
		defer cancel()
		result, storeErr = r.exchange(ctx, s, m, live, rs)
		if damaged(storeErr) {
			// This namespace's trouble alone, which must not look like an outage to
			// the others: what a hand put there makes way for what belongs there.
			if storeErr = live.Withdraw(ctx, s.name); storeErr == nil {
				result, storeErr = r.exchange(ctx, s, m, live, rs)
			}
		}
		if storeErr != nil {
			r.stores.Failed(m.storeName, storeErr)
			logf.FromContext(ctx).V(1).Info("Store gave no answer", "store", m.storeName, "error", storeErr.Error())
			result = measurement{acks: ackView{now: r.now()}, storeError: storeErr}
		}
	}
	if storeErr != nil {
		m.listeningSince = time.Time{}
	}
	return result
}

// exchange is all that a pass says to the store and hears from it.
func (r *NamespaceReconciler) exchange(ctx context.Context, s *scope, m *memory, live *liveStore, rs *ruleset.RuleSet) (measurement, error) {
	standing, err := publish(ctx, live, m, rs)
	if err != nil {
		return measurement{}, err
	}
	acks, err := r.readAcks(ctx, s, m, live)
	if err != nil {
		return measurement{}, err
	}
	return measurement{acks: acks, setLive: func(ctx context.Context, counts map[string]int64) error {
		return standing.setLive(ctx, live, s.name, counts)
	}}, nil
}

// leave takes a namespace out of the store that has no rules and no sidecars.
func (r *NamespaceReconciler) leave(ctx context.Context, s *scope, m *memory) (ctrl.Result, error) {
	if m.left {
		return ctrl.Result{}, nil
	}
	name := m.storeName
	if s.namespace != nil {
		if err := r.secrets.Delete(ctx, s.name); err != nil {
			return ctrl.Result{}, err
		}
		if name == "" {
			name = storeName(s.namespace)
		}
	}
	if name != "" {
		if err := r.withdraw(ctx, s.name, name); err != nil {
			logf.FromContext(ctx).V(1).Info("Namespace could not be withdrawn yet", "store", name, "error", err.Error())
			return ctrl.Result{RequeueAfter: time.Minute}, nil
		}
	}
	r.memories.drop(s.name)
	if s.namespace != nil {
		r.memories.of(s.name).left = true
	}
	return ctrl.Result{}, nil
}

// moveTo follows a namespace to another store. What stands in the former one is
// withdrawn at once; its sidecars keep their rules until they hear of the new one.
func (r *NamespaceReconciler) moveTo(ctx context.Context, s *scope, m *memory, name string) {
	former := m.storeName
	m.moveTo(name)
	if former == "" || former == name {
		return
	}
	if err := r.withdraw(ctx, s.name, former); err != nil {
		logf.FromContext(ctx).Error(err, "Namespace left keys behind in its former store", "store", former)
	}
}

func (r *NamespaceReconciler) withdraw(ctx context.Context, namespace, name string) error {
	live, err := r.stores.Get(ctx, name)
	if errors.Is(err, errNoStore) || errors.Is(err, errNotImplemented) {
		return nil
	}
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, storeTimeout)
	defer cancel()
	return live.Withdraw(ctx, namespace)
}

// syncSecret keeps the Secret that the namespace's sidecars mount.
func (r *NamespaceReconciler) syncSecret(ctx context.Context, s *scope, m *memory, store string) error {
	if !s.wantsSecret() {
		return r.dropSecret(ctx, s, m)
	}
	return r.secrets.sync(ctx, s.name, store, m, r.now())
}

// dropSecret deletes the Secret once after it was wanted, or after a restart.
func (r *NamespaceReconciler) dropSecret(ctx context.Context, s *scope, m *memory) error {
	if m.secret.dropped || !s.namespace.DeletionTimestamp.IsZero() {
		return nil
	}
	if err := r.secrets.Delete(ctx, s.name); err != nil {
		return err
	}
	m.secret = secretMemory{dropped: true}
	return nil
}
