// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package controllers

import (
	"context"

	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/client-go/tools/events"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller"

	"github.com/penstock-dev/penstock/api/v1alpha1"
	"github.com/penstock-dev/penstock/internal/compile"
)

// ClusterPolicyReconciler reports on each ClusterRateLimitPolicy that this version
// does not enforce it.
type ClusterPolicyReconciler struct {
	reader client.Reader
	writer client.Client
	events events.EventRecorder
}

func (r *ClusterPolicyReconciler) setup(mgr ctrl.Manager) error {
	return ctrl.NewControllerManagedBy(mgr).
		Named("clusterpolicy").
		For(&v1alpha1.ClusterRateLimitPolicy{}).
		WithOptions(controller.Options{EnableWarmup: new(true)}).
		Complete(r)
}

// Reconcile writes the status of a policy.
func (r *ClusterPolicyReconciler) Reconcile(ctx context.Context, request ctrl.Request) (ctrl.Result, error) {
	policy := &v1alpha1.ClusterRateLimitPolicy{}
	if err := r.reader.Get(ctx, request.NamespacedName, policy); err != nil {
		return ctrl.Result{}, client.IgnoreNotFound(err)
	}
	status := clusterPolicyStatus(policy)
	if equality.Semantic.DeepEqual(&policy.Status, &status) {
		return ctrl.Result{}, nil
	}
	if err := applyStatus(ctx, r.writer, policy, "ClusterRateLimitPolicy", &status); err != nil {
		return ctrl.Result{}, client.IgnoreNotFound(err)
	}
	before := meta.FindStatusCondition(policy.Status.Conditions, v1alpha1.ConditionReady)
	now := meta.FindStatusCondition(status.Conditions, v1alpha1.ConditionReady)
	if worthAnnouncing(before, now) {
		r.events.Eventf(policy, nil, eventType(now), now.Reason, eventAction, "%s", note(now.Message))
	}
	return ctrl.Result{}, nil
}

func clusterPolicyStatus(policy *v1alpha1.ClusterRateLimitPolicy) v1alpha1.PolicyStatus {
	problems := compile.ClusterPolicy(policy)
	a := assessment{
		generation: policy.Generation,
		result:     compile.PolicyResult{Reason: v1alpha1.ReasonNotImplemented, Problems: problems},
	}
	if len(problems) == 0 {
		// Nothing enforces this kind yet, whatever the compiler says of its fields.
		a.result.Problems = []v1alpha1.Problem{{
			Field: "spec", Reason: v1alpha1.ReasonNotImplemented,
			Message: "ClusterRateLimitPolicy is not enforced by this version: use a RateLimitPolicy in each namespace",
		}}
	}
	return v1alpha1.PolicyStatus{
		ObservedGeneration: policy.Generation,
		Pods:               a.pods.counts(),
		Problems:           a.result.Problems,
		Conditions:         mergeConditions(policy.Status.Conditions, conditions(a)),
	}
}
