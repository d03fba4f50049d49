// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package controllers

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/events"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/predicate"

	"github.com/penstock-dev/penstock/api/v1alpha1"
	"github.com/penstock-dev/penstock/internal/compile"
	"github.com/penstock-dev/penstock/internal/store"
)

// storePoll is how often a store is asked whether it still answers.
const storePoll = 10 * time.Second

// StoreReconciler connects to stores and reports how it found them.
type StoreReconciler struct {
	reader client.Reader
	writer client.Client
	stores *Stores
	events events.EventRecorder
}

func (r *StoreReconciler) setup(mgr ctrl.Manager) error {
	return ctrl.NewControllerManagedBy(mgr).
		Named("store").
		For(&v1alpha1.RateLimitStore{}, builder.WithPredicates(predicate.GenerationChangedPredicate{})).
		WithOptions(controller.Options{EnableWarmup: new(true)}).
		Complete(r)
}

// Reconcile connects to a store, or proves that the connection still works.
func (r *StoreReconciler) Reconcile(ctx context.Context, request ctrl.Request) (ctrl.Result, error) {
	object := &v1alpha1.RateLimitStore{}
	if err := r.reader.Get(ctx, request.NamespacedName, object); err != nil {
		if apierrors.IsNotFound(err) {
			r.stores.Forget(request.Name)
			return ctrl.Result{}, nil
		}
		return ctrl.Result{}, fmt.Errorf("read store %q: %w", request.Name, err)
	}
	found := finding{problems: compile.Store(object)}
	found.server, found.err = r.ask(ctx, object)
	namespaces, err := r.countNamespaces(ctx, object.Name)
	if err != nil {
		return ctrl.Result{}, err
	}
	found.namespaces = namespaces
	if err := r.report(ctx, object, found); err != nil {
		return ctrl.Result{}, err
	}
	return ctrl.Result{RequeueAfter: storePoll}, nil
}

// finding is how a store was found.
type finding struct {
	problems   []v1alpha1.Problem
	err        error
	server     store.Server
	namespaces int32
}

// ask connects to a store and asks it how it is.
func (r *StoreReconciler) ask(ctx context.Context, object *v1alpha1.RateLimitStore) (store.Server, error) {
	live, err := r.stores.Connect(ctx, object)
	if err != nil {
		return store.Server{}, err
	}
	// Sidecars could only be silent about settings that are of no use to them.
	if _, err := r.stores.settings.sidecar(ctx, object); err != nil {
		return store.Server{}, err
	}
	ctx, cancel := context.WithTimeout(ctx, storeTimeout)
	defer cancel()
	return live.Server(ctx)
}

func (r *StoreReconciler) countNamespaces(ctx context.Context, name string) (int32, error) {
	namespaces := &corev1.NamespaceList{}
	if err := r.reader.List(ctx, namespaces); err != nil {
		return 0, fmt.Errorf("list namespaces: %w", err)
	}
	policies := &v1alpha1.RateLimitPolicyList{}
	if err := r.reader.List(ctx, policies); err != nil {
		return 0, fmt.Errorf("list policies: %w", err)
	}
	limited := map[string]bool{}
	for i := range policies.Items {
		limited[policies.Items[i].Namespace] = true
	}
	count := int32(0)
	for i := range namespaces.Items {
		namespace := &namespaces.Items[i]
		served := limited[namespace.Name] || namespace.Labels[v1alpha1.LabelInjection] == "enabled"
		if served && storeName(namespace) == name {
			count++
		}
	}
	return count, nil
}

func (r *StoreReconciler) report(ctx context.Context, object *v1alpha1.RateLimitStore, found finding) error {
	status := storeStatus(object, found)
	if equality.Semantic.DeepEqual(&object.Status, &status) {
		return nil
	}
	err := applyStatus(ctx, r.writer, object, "RateLimitStore", &status)
	if apierrors.IsNotFound(err) || apierrors.IsConflict(err) {
		return nil
	}
	if err != nil {
		return err
	}
	before := meta.FindStatusCondition(object.Status.Conditions, v1alpha1.ConditionReady)
	now := meta.FindStatusCondition(status.Conditions, v1alpha1.ConditionReady)
	if before == nil || before.Reason != now.Reason {
		r.events.Eventf(object, nil, eventType(now), now.Reason, eventAction, "%s", note(now.Message))
	}
	return nil
}

// storeStatus is the status that a finding amounts to.
func storeStatus(object *v1alpha1.RateLimitStore, found finding) v1alpha1.RateLimitStoreStatus {
	status := v1alpha1.RateLimitStoreStatus{
		ObservedGeneration: object.Generation,
		Version:            found.server.Version,
		Namespaces:         found.namespaces,
		Problems:           found.problems,
		Conditions:         mergeConditions(object.Status.Conditions, storeConditions(object.Generation, found)),
	}
	if found.err == nil {
		status.RoundTrip = steadyRoundTrip(object.Status.RoundTrip, found.server.RoundTrip)
	} else {
		status.Version = object.Status.Version
	}
	return status
}

// storeConditions decides a store's conditions.
func storeConditions(generation int64, found finding) []metav1.Condition {
	accepted := yes(v1alpha1.ReasonAccepted, fmt.Sprintf("generation %d is valid", generation))
	connected := yes(v1alpha1.ReasonConnected, "the store answers")
	switch {
	case len(found.problems) > 0:
		first := found.problems[0]
		accepted = no(first.Reason, strings.TrimPrefix(first.Field+": "+first.Message, ": "))
		connected = unknown(first.Reason, "the operator does not connect to a store that is not accepted")
	case found.err != nil:
		connected = no(whyNotConnected(found.err), found.err.Error())
	}
	ready := connected
	if accepted.status != metav1.ConditionTrue {
		ready = accepted
	} else if connected.status == metav1.ConditionTrue {
		ready = yes(v1alpha1.ReasonReady, connected.message)
	}
	stamp := assessment{generation: generation}.stamp
	conditions := []metav1.Condition{
		stamp(v1alpha1.ConditionAccepted, accepted),
		stamp(v1alpha1.ConditionConnected, connected),
		stamp(v1alpha1.ConditionReady, ready),
	}
	if accepted.status != metav1.ConditionTrue || connected.reason == v1alpha1.ReasonCredentialsRefused || connected.reason == v1alpha1.ReasonPrefixInUse {
		conditions = append(conditions, stamp(v1alpha1.ConditionStalled, yes(ready.reason, ready.message)))
	}
	return conditions
}

// refusals begin what Redis answers to a user that it does not let in, or not do
// what it asks.
var refusals = []string{"NOAUTH", "WRONGPASS", "NOPERM", "ERR AUTH", "ERR invalid password"}

func whyNotConnected(err error) string {
	if errors.Is(err, store.ErrPrefixInUse) {
		return v1alpha1.ReasonPrefixInUse
	}
	if _, isSecret := errors.AsType[secretError](err); isSecret {
		return v1alpha1.ReasonCredentialsRefused
	}
	for _, refusal := range refusals {
		if strings.Contains(err.Error(), refusal) {
			return v1alpha1.ReasonCredentialsRefused
		}
	}
	return v1alpha1.ReasonUnreachable
}

// steadyRoundTrip rounds up to a millisecond and keeps the old value while the new
// one is near it, so that noise is not written every few seconds.
func steadyRoundTrip(old v1alpha1.Duration, measured time.Duration) v1alpha1.Duration {
	measured = (measured + time.Millisecond - 1).Truncate(time.Millisecond)
	before, err := time.ParseDuration(string(old))
	if err == nil && measured <= 3*before && before <= 3*measured {
		return old
	}
	return v1alpha1.Duration(fmt.Sprintf("%dms", measured.Milliseconds()))
}
