// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package controllers

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/penstock-dev/penstock/api/v1alpha1"
	"github.com/penstock-dev/penstock/internal/compile"
)

const (
	// fieldOwner owns what the operator applies.
	fieldOwner = client.FieldOwner("penstock")
	// countsEvery is how often counts alone are written.
	countsEvery = 5 * time.Second
	// outageRetry is when a write is tried again that an outage would have made
	// one too many.
	outageRetry = 2 * time.Second
)

// report writes each policy's status and tells the store the live pods.
func (r *NamespaceReconciler) report(ctx context.Context, s *scope, m *memory, output compile.Output, measured measurement) error {
	live := map[string]int64{}
	var failed []error
	alive := map[types.UID]bool{}
	for _, policy := range s.policies {
		result, compiled := output.Policies[policy.Name]
		if !compiled {
			continue
		}
		alive[policy.UID] = true
		a := r.assess(s, m, policy, result, measured)
		if a.result.ActiveGeneration > 0 && !a.result.Disabled {
			live[policyKey(policy)] = a.pods.live
		}
		failed = append(failed, r.write(ctx, m, policy, statusOf(policy, a)))
	}
	for uid := range m.written {
		if !alive[uid] {
			delete(m.written, uid)
		}
	}
	if measured.setLive != nil {
		failed = append(failed, measured.setLive(ctx, live))
	}
	return errors.Join(failed...)
}

func (r *NamespaceReconciler) assess(s *scope, m *memory, policy *v1alpha1.RateLimitPolicy, result compile.PolicyResult, measured measurement) assessment {
	result, programmed := inForce(result, m, policy.Name)
	a := assessment{
		generation:     policy.Generation,
		result:         result,
		storeName:      m.storeName,
		storeMissing:   errors.Is(measured.storeError, errNoStore),
		storeError:     measured.storeError,
		tooLarge:       m.tooLarge,
		programmed:     programmed,
		wasEnforced:    wasEnforced(policy),
		pods:           countPods(s.pods, result.Selectors, m.publication.Policies[policyKey(policy)], measured.acks),
		notIntercepted: slices.Concat(sectionsMissed(s.pods, result.Selectors), notIntercepted(s.services, s.pods, result.Selectors)),
	}
	a.peerIsProxy = peerIsProxy(s.pods, result.Selectors, policyKey(policy), m.publication.Policies[policyKey(policy)], measured.acks)
	return a
}

// wasEnforced reports whether the status says that the newest generation is
// enforced.
func wasEnforced(policy *v1alpha1.RateLimitPolicy) bool {
	condition := meta.FindStatusCondition(policy.Status.Conditions, v1alpha1.ConditionEnforced)
	return condition != nil && condition.Status == metav1.ConditionTrue && condition.ObservedGeneration == policy.Generation
}

// writtenStatus is a status that was written.
type writtenStatus struct {
	at time.Time
	// over is the object's version that it was written over.
	over   string
	status v1alpha1.PolicyStatus
}

// statusOf is the status that an assessment amounts to. While acks cannot be read
// the counts stay as they were.
func statusOf(policy *v1alpha1.RateLimitPolicy, a assessment) v1alpha1.PolicyStatus {
	status := v1alpha1.PolicyStatus{
		ObservedGeneration: a.generation,
		ActiveGeneration:   a.result.ActiveGeneration,
		Revision:           a.result.Revision,
		Pods:               a.pods.counts(),
		Effective:          a.result.Effective,
	}
	if a.storeError != nil && policy.Status.Pods != nil {
		status.Pods = policy.Status.Pods
	}
	status.Problems = withPeerIsProxy(a, policy.Status.Problems)
	status.Conditions = mergeConditions(policy.Status.Conditions, conditions(a))
	return status
}

// mergeConditions stamps the time of transition on those that changed.
func mergeConditions(old, wanted []metav1.Condition) []metav1.Condition {
	merged := make([]metav1.Condition, 0, len(wanted))
	for _, condition := range wanted {
		if before := meta.FindStatusCondition(old, condition.Type); before != nil {
			merged = append(merged, *before)
		}
		meta.SetStatusCondition(&merged, condition)
	}
	return merged
}

// write applies a policy's status if it says something new.
func (r *NamespaceReconciler) write(ctx context.Context, m *memory, policy *v1alpha1.RateLimitPolicy, status v1alpha1.PolicyStatus) error {
	last := m.written[policy.UID]
	old := &policy.Status
	if last.over == policy.ResourceVersion {
		old = &last.status // the cache has not seen the last write yet
	}
	since := r.now().Sub(last.at)
	if !worthWriting(old, &status, since) {
		if since < countsEvery && !equality.Semantic.DeepEqual(old, &status) {
			m.lookAgainIn(countsEvery - since)
		}
		return nil
	}
	if (speaksOfOutage(&status) || speaksOfOutage(old)) && !r.outageWrites.TryAccept() {
		m.lookAgainIn(outageRetry)
		return nil
	}
	err := applyStatus(ctx, r.writer, policy, "RateLimitPolicy", &status)
	if apierrors.IsNotFound(err) || apierrors.IsConflict(err) {
		return nil // it was deleted meanwhile, or made again; an event follows
	}
	if err != nil {
		return err
	}
	r.announce(policy, old, &status)
	m.written[policy.UID] = writtenStatus{at: r.now(), over: policy.ResourceVersion, status: status}
	return nil
}

// worthWriting decides whether a status is written: at once if a condition or
// what is in force changed, and else not too often.
func worthWriting(old, wanted *v1alpha1.PolicyStatus, sinceLast time.Duration) bool {
	if equality.Semantic.DeepEqual(old, wanted) {
		return false
	}
	if sinceLast >= countsEvery {
		return true
	}
	return !equality.Semantic.DeepEqual(withoutCounts(old), withoutCounts(wanted))
}

// withoutCounts is a status without counts and the sentences that tell of pods.
func withoutCounts(status *v1alpha1.PolicyStatus) *v1alpha1.PolicyStatus {
	copied := status.DeepCopy()
	copied.Pods = nil
	for i := range copied.Conditions {
		copied.Conditions[i].Message = ""
	}
	if at := slices.IndexFunc(copied.Problems, isPeerIsProxy); at >= 0 {
		copied.Problems[at].Message = "" // it names the first of the pods that saw it
	}
	return copied
}

func speaksOfOutage(status *v1alpha1.PolicyStatus) bool {
	enforced := meta.FindStatusCondition(status.Conditions, v1alpha1.ConditionEnforced)
	return enforced != nil && enforced.Reason == v1alpha1.ReasonStoreUnavailable
}

// applyStatus applies the whole status of an object. The uid keeps it off another
// object that was made under the same name meanwhile.
func applyStatus(ctx context.Context, writer client.Client, object client.Object, kind string, status any) error {
	content, err := runtime.DefaultUnstructuredConverter.ToUnstructured(status)
	if err != nil {
		return fmt.Errorf("encode status of %s %s: %w", kind, client.ObjectKeyFromObject(object), err)
	}
	applied := &unstructured.Unstructured{Object: map[string]any{"status": content}}
	applied.SetAPIVersion(v1alpha1.SchemeGroupVersion.String())
	applied.SetKind(kind)
	applied.SetName(object.GetName())
	applied.SetNamespace(object.GetNamespace())
	applied.SetUID(object.GetUID())
	err = writer.Status().Apply(ctx, client.ApplyConfigurationFromUnstructured(applied), fieldOwner, client.ForceOwnership)
	if err != nil {
		return fmt.Errorf("write status of %s %s: %w", kind, client.ObjectKeyFromObject(object), err)
	}
	return nil
}
