// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package controllers

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/penstock-dev/penstock/api/v1alpha1"
)

// eventAction is what the operator was doing when an event happened.
const eventAction = "Reconcile"

// maxEventNote is what an event's note may hold.
const maxEventNote = 1000

// announce emits an event if a policy's Ready changed. An outage of the store is
// announced on the store: one event instead of one for each policy.
func (r *NamespaceReconciler) announce(policy *v1alpha1.RateLimitPolicy, old, status *v1alpha1.PolicyStatus) {
	before := meta.FindStatusCondition(old.Conditions, v1alpha1.ConditionReady)
	now := meta.FindStatusCondition(status.Conditions, v1alpha1.ConditionReady)
	if !worthAnnouncing(before, now) {
		return
	}
	r.events.Eventf(policy, nil, eventType(now), now.Reason, eventAction, "%s", note(now.Message))
}

func worthAnnouncing(before, now *metav1.Condition) bool {
	if now == nil || now.Reason == v1alpha1.ReasonStoreUnavailable {
		return false
	}
	if before == nil {
		return true
	}
	return before.Reason != v1alpha1.ReasonStoreUnavailable && before.Reason != now.Reason
}

// eventType is a warning where something is wrong, and not where it only takes time.
func eventType(condition *metav1.Condition) string {
	if condition.Status == metav1.ConditionFalse && condition.Reason != v1alpha1.ReasonPending {
		return corev1.EventTypeWarning
	}
	return corev1.EventTypeNormal
}

func note(message string) string {
	if len(message) > maxEventNote {
		return message[:maxEventNote]
	}
	return message
}
