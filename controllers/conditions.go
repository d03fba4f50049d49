// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package controllers

import (
	"fmt"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/penstock-dev/penstock/api/v1alpha1"
	"github.com/penstock-dev/penstock/internal/compile"
)

// assessment is all that a policy's conditions are made of.
type assessment struct {
	// generation is the newest of the object.
	generation int64
	result     compile.PolicyResult
	// storeName is the store of the policy's namespace.
	storeName string
	// storeMissing says that there is no such store.
	storeMissing bool
	// storeError says why the store gives no answer; nil where it does.
	storeError error
	// tooLarge says why the rule set does not fit; nil where it does.
	tooLarge error
	// programmed is whether the policy's form in force stands in the store.
	programmed bool
	// wasEnforced is whether this generation was found enforced before. Only then
	// do pods that have just come up change nothing.
	wasEnforced bool
	pods        podReport
	// notIntercepted are sentences about ways around the sidecars.
	notIntercepted []string
	// peerIsProxy is the warning that the policy takes a proxy for the client; nil for
	// none.
	peerIsProxy *v1alpha1.Problem
}

// verdict is a condition before it is stamped.
type verdict struct {
	status          metav1.ConditionStatus
	reason, message string
}

func yes(reason, message string) verdict {
	return verdict{metav1.ConditionTrue, reason, message}
}

func no(reason, message string) verdict {
	return verdict{metav1.ConditionFalse, reason, message}
}

func unknown(reason, message string) verdict {
	return verdict{metav1.ConditionUnknown, reason, message}
}

// conditions decides a policy's conditions. Stalled is there only if it is true,
// as kstatus wants it of a condition that tells of something abnormal.
func conditions(a assessment) []metav1.Condition {
	accepted := a.accepted()
	programmed := a.isProgrammed(accepted)
	enforced := a.enforced(programmed)
	ready := a.ready(accepted, programmed, enforced)
	result := []metav1.Condition{
		a.stamp(v1alpha1.ConditionAccepted, accepted),
		a.stamp(v1alpha1.ConditionProgrammed, programmed),
		a.stamp(v1alpha1.ConditionEnforced, enforced),
		a.stamp(v1alpha1.ConditionReady, ready),
	}
	if stalled(ready) {
		result = append(result, a.stamp(v1alpha1.ConditionStalled, yes(ready.reason, ready.message)))
	}
	return result
}

func (a assessment) stamp(conditionType string, v verdict) metav1.Condition {
	return metav1.Condition{
		Type: conditionType, Status: v.status, Reason: v.reason,
		Message: shorten(v.message), ObservedGeneration: a.generation,
	}
}

func (a assessment) accepted() verdict {
	switch {
	case a.result.Reason != v1alpha1.ReasonAccepted:
		return no(a.result.Reason, a.problems())
	case a.storeMissing:
		return no(v1alpha1.ReasonStoreNotFound, fmt.Sprintf("there is no RateLimitStore %q; make it, or name another with the namespace's label %s",
			a.storeName, v1alpha1.LabelStore))
	}
	return yes(v1alpha1.ReasonAccepted, fmt.Sprintf("generation %d is valid", a.generation))
}

// problems says what is wrong, and what is in force instead.
func (a assessment) problems() string {
	sentences := make([]string, 0, len(a.result.Problems))
	for _, problem := range a.result.Problems {
		sentences = append(sentences, strings.TrimPrefix(problem.Field+": "+problem.Message, ": "))
	}
	message := list(sentences)
	if a.result.ActiveGeneration > 0 {
		return fmt.Sprintf("%s (generation %d stays in force)", message, a.result.ActiveGeneration)
	}
	return message
}

func (a assessment) isProgrammed(accepted verdict) verdict {
	switch {
	case a.tooLarge != nil && !a.programmed:
		return no(v1alpha1.ReasonRuleSetTooLarge, a.tooLarge.Error())
	case a.storeMissing:
		return no(v1alpha1.ReasonStoreNotFound, fmt.Sprintf("there is no RateLimitStore %q", a.storeName))
	case a.storeError != nil && a.programmed:
		return unknown(v1alpha1.ReasonStoreUnavailable, a.unavailable())
	case a.storeError != nil:
		return no(v1alpha1.ReasonStoreUnavailable, a.unavailable())
	case accepted.status != metav1.ConditionTrue && a.result.ActiveGeneration == 0:
		return no(accepted.reason, "no generation of this policy is in force")
	case !a.programmed:
		return no(v1alpha1.ReasonPending, fmt.Sprintf("the rule set is not in store %q yet", a.storeName))
	case a.result.Disabled:
		return yes(v1alpha1.ReasonProgrammed, fmt.Sprintf("the rule set in store %q is without this policy", a.storeName))
	}
	return yes(v1alpha1.ReasonProgrammed, fmt.Sprintf("generation %d is in store %q as revision %s",
		a.result.ActiveGeneration, a.storeName, a.result.Revision))
}

func (a assessment) unavailable() string {
	return fmt.Sprintf("store %q gives no answer: %v", a.storeName, a.storeError)
}

// reasonsByUrgency are the reasons for which pods do not enforce, those first that
// no waiting mends.
var reasonsByUrgency = []string{
	v1alpha1.ReasonNotInjected, v1alpha1.ReasonSidecarOutdated, v1alpha1.ReasonNotHTTP, v1alpha1.ReasonSidecarSilent,
	v1alpha1.ReasonPending, v1alpha1.ReasonStoreDegraded,
}

func (a assessment) enforced(programmed verdict) verdict {
	switch {
	case a.storeMissing:
		return unknown(v1alpha1.ReasonStoreNotFound, fmt.Sprintf("without RateLimitStore %q nothing can be measured", a.storeName))
	case a.storeError != nil:
		return unknown(v1alpha1.ReasonStoreUnavailable, "what the pods enforce cannot be read: "+a.unavailable())
	case a.result.Disabled:
		return no(v1alpha1.ReasonDisabled, "spec.mode is Disabled: nothing is limited")
	case a.result.ActiveGeneration == 0 || programmed.status != metav1.ConditionTrue:
		return no(programmed.reason, programmed.message)
	case a.pods.selected == 0:
		return unknown(v1alpha1.ReasonNoPods, "the policy selects no running pod")
	}
	return a.measured()
}

func (a assessment) measured() verdict {
	pods := fmt.Sprintf("%d of %d pods enforce the policy", a.pods.enforcing, a.pods.selected)
	if unready := a.pods.selected - a.pods.ready; unready > 0 {
		pods += fmt.Sprintf(" (%d not ready)", unready)
	}
	for i, reason := range reasonsByUrgency {
		if i == 1 && len(a.notIntercepted) > 0 { // after NotInjected: nobody need ask how to reach a pod without sidecar
			return no(v1alpha1.ReasonNotIntercepted, list(a.notIntercepted))
		}
		if sentences := a.pods.missing[reason]; len(sentences) > 0 {
			return no(reason, pods+": "+list(sentences))
		}
	}
	if a.pods.arriving > 0 && !a.wasEnforced {
		return no(v1alpha1.ReasonPending, fmt.Sprintf("%s: %d have just become ready and have not acknowledged it yet", pods, a.pods.arriving))
	}
	if a.pods.enforcing == 0 {
		return no(v1alpha1.ReasonPending, pods+": none is ready and has acknowledged it yet")
	}
	return yes(v1alpha1.ReasonEnforced, pods)
}

func (a assessment) ready(accepted, programmed, enforced verdict) verdict {
	for _, v := range []verdict{accepted, programmed} {
		if v.status != metav1.ConditionTrue {
			return verdict{v.status, v.reason, v.message}
		}
	}
	switch {
	case enforced.status == metav1.ConditionTrue:
		return yes(v1alpha1.ReasonReady, enforced.message)
	case enforced.reason == v1alpha1.ReasonNoPods, enforced.reason == v1alpha1.ReasonDisabled:
		return yes(enforced.reason, enforced.message)
	}
	return enforced
}

// stalled reports whether a person must act. A missing target may appear by
// itself: manifests are applied in any order.
func stalled(ready verdict) bool {
	if ready.status == metav1.ConditionTrue {
		return false
	}
	switch ready.reason {
	case v1alpha1.ReasonInvalid, v1alpha1.ReasonNotImplemented, v1alpha1.ReasonStoreNotFound,
		v1alpha1.ReasonRuleSetTooLarge, v1alpha1.ReasonNotInjected, v1alpha1.ReasonNotIntercepted,
		v1alpha1.ReasonSidecarOutdated, v1alpha1.ReasonNotHTTP:
		return true
	}
	return false
}

const (
	// maxListed bounds how many things a message names.
	maxListed = 3
	// maxMessage bounds a message, in bytes, so that no status grows with a fleet.
	maxMessage = 1024
)

// list joins the first sentences and counts the rest.
func list(sentences []string) string {
	if len(sentences) <= maxListed {
		return strings.Join(sentences, "; ")
	}
	return fmt.Sprintf("%s; and %d more", strings.Join(sentences[:maxListed], "; "), len(sentences)-maxListed)
}

func shorten(message string) string {
	if len(message) <= maxMessage {
		return message
	}
	return strings.ToValidUTF8(message[:maxMessage-3], "") + "..."
}
