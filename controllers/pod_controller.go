// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package controllers

import (
	"context"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/tools/events"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/predicate"

	"github.com/penstock-dev/penstock/api/v1alpha1"
)

// newPod is how old a pod may be for its event still to be news: an operator that
// restarts does not tell of all pods again.
const newPod = 2 * time.Minute

// PodReconciler tells of pods that got no sidecar. The webhook cannot: when it
// decides there is no pod yet that an event could be about.
type PodReconciler struct {
	reader client.Reader
	events events.EventRecorder
	now    func() time.Time
}

func (r *PodReconciler) setup(mgr ctrl.Manager) error {
	onlyNew := predicate.Funcs{
		CreateFunc:  func(e event.CreateEvent) bool { return r.isNews(e.Object) },
		UpdateFunc:  func(event.UpdateEvent) bool { return false },
		DeleteFunc:  func(event.DeleteEvent) bool { return false },
		GenericFunc: func(event.GenericEvent) bool { return false },
	}
	return ctrl.NewControllerManagedBy(mgr).
		Named("pod").
		For(&corev1.Pod{}, builder.WithPredicates(onlyNew)).
		Complete(r)
}

func (r *PodReconciler) isNews(object client.Object) bool {
	pod, isPod := object.(*corev1.Pod)
	if !isPod || r.now().Sub(pod.CreationTimestamp.Time) > newPod {
		return false
	}
	report := injectionReport(pod)
	return report != nil && !report.Injected && report.Reason != ""
}

// Reconcile emits the event of one pod.
func (r *PodReconciler) Reconcile(ctx context.Context, request ctrl.Request) (ctrl.Result, error) {
	pod := &corev1.Pod{}
	if err := r.reader.Get(ctx, request.NamespacedName, pod); err != nil {
		return ctrl.Result{}, client.IgnoreNotFound(err)
	}
	if !r.isNews(pod) {
		return ctrl.Result{}, nil
	}
	report := injectionReport(pod)
	kind := corev1.EventTypeWarning
	if pod.Labels[v1alpha1.LabelInject] == "false" {
		kind = corev1.EventTypeNormal // as the pod asked for
	}
	message := report.Message
	if message == "" {
		message = "the pod was left without a sidecar"
	}
	r.events.Eventf(pod, nil, kind, report.Reason, "Inject", "%s", note(message))
	return ctrl.Result{}, nil
}
