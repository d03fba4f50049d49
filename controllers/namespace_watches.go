// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package controllers

import (
	"context"
	"slices"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/util/workqueue"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	logf "sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
	"sigs.k8s.io/controller-runtime/pkg/source"

	"github.com/penstock-dev/penstock/api/v1alpha1"
)

// concurrentNamespaces are reconciled at once: enough that one slow store does not
// hold up the namespaces of another.
const concurrentNamespaces = 4

// firstRetry is how soon a pass that failed is made again; each further failure
// doubles it.
const firstRetry = 20 * time.Millisecond

// setup registers the reconciler: whatever changes, its unit of work is the
// namespace in which it changed.
func (r *NamespaceReconciler) setup(mgr ctrl.Manager) error {
	inItsNamespace := handler.EnqueueRequestsFromMapFunc(func(_ context.Context, object client.Object) []ctrl.Request {
		return []ctrl.Request{namespaceRequest(object.GetNamespace())}
	})
	ifTarget := handler.EnqueueRequestsFromMapFunc(r.ifTarget)
	byGeneration := builder.WithPredicates(predicate.GenerationChangedPredicate{})
	return ctrl.NewControllerManagedBy(mgr).
		Named("namespace").
		For(&corev1.Namespace{}).
		Watches(&v1alpha1.RateLimitPolicy{}, inItsNamespace).
		Watches(&corev1.Pod{}, inItsNamespace, builder.WithPredicates(contentChanged())).
		Watches(&corev1.Service{}, inItsNamespace, builder.WithPredicates(contentChanged())).
		Watches(&appsv1.Deployment{}, ifTarget, byGeneration).
		Watches(&appsv1.StatefulSet{}, ifTarget, byGeneration).
		Watches(&appsv1.DaemonSet{}, ifTarget, byGeneration).
		Watches(&v1alpha1.RateLimitStore{}, handler.EnqueueRequestsFromMapFunc(r.ofStore), builder.WithPredicates(connectionChanged())).
		WatchesRawSource(source.Channel(r.stores.acked, &handler.EnqueueRequestForObject{})).
		WithOptions(controller.Options{MaxConcurrentReconciles: concurrentNamespaces, RateLimiter: retries(), EnableWarmup: new(true)}).
		Complete(r)
}

// retries are as far apart as polls at most: a namespace in which one thing keeps
// failing, such as a Secret that must not be written, is still looked after. The
// usual limiter would come by every quarter of an hour.
func retries() workqueue.TypedRateLimiter[ctrl.Request] {
	return workqueue.NewTypedItemExponentialFailureRateLimiter[ctrl.Request](firstRetry, poll)
}

func namespaceRequest(name string) ctrl.Request {
	return ctrl.Request{NamespacedName: types.NamespacedName{Name: name}}
}

// ifTarget asks for the namespace of a workload if a policy there names it.
func (r *NamespaceReconciler) ifTarget(ctx context.Context, object client.Object) []ctrl.Request {
	policies := &v1alpha1.RateLimitPolicyList{}
	if err := r.reader.List(ctx, policies, client.InNamespace(object.GetNamespace())); err != nil {
		logf.FromContext(ctx).Error(err, "List policies of a workload's namespace", "namespace", object.GetNamespace())
		return nil
	}
	for i := range policies.Items {
		if slices.ContainsFunc(policies.Items[i].Spec.TargetRefs, func(ref v1alpha1.TargetReference) bool {
			return ref.Name == object.GetName()
		}) {
			return []ctrl.Request{namespaceRequest(object.GetNamespace())}
		}
	}
	return nil
}

// ofStore asks for all namespaces that count in a store.
func (r *NamespaceReconciler) ofStore(ctx context.Context, object client.Object) []ctrl.Request {
	namespaces := &corev1.NamespaceList{}
	if err := r.reader.List(ctx, namespaces); err != nil {
		logf.FromContext(ctx).Error(err, "List the namespaces of a store", "store", object.GetName())
		return nil
	}
	var requests []ctrl.Request
	for i := range namespaces.Items {
		if storeName(&namespaces.Items[i]) == object.GetName() {
			requests = append(requests, namespaceRequest(namespaces.Items[i].Name))
		}
	}
	return requests
}

// contentChanged lets updates through that change more than an object's version.
// Objects are cached with only what is read, so most updates of pods change nothing.
func contentChanged() predicate.Predicate {
	return predicate.Funcs{UpdateFunc: func(update event.UpdateEvent) bool {
		before, after := update.ObjectOld.DeepCopyObject().(client.Object), update.ObjectNew.DeepCopyObject().(client.Object)
		for _, object := range []client.Object{before, after} {
			object.SetResourceVersion("")
			object.SetGeneration(0)
		}
		return !equality.Semantic.DeepEqual(before, after)
	}}
}

// connectionChanged lets updates of a store through that matter to namespaces: its
// round trip does not.
func connectionChanged() predicate.Predicate {
	return predicate.Funcs{UpdateFunc: func(update event.UpdateEvent) bool {
		before, isStore := update.ObjectOld.(*v1alpha1.RateLimitStore)
		after, stillStore := update.ObjectNew.(*v1alpha1.RateLimitStore)
		return !isStore || !stillStore || before.Generation != after.Generation ||
			!equality.Semantic.DeepEqual(before.Status.Conditions, after.Status.Conditions)
	}}
}
