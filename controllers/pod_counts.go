// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package controllers

import (
	"fmt"
	"slices"
	"time"

	"github.com/penstock-dev/penstock/api/v1alpha1"
	"github.com/penstock-dev/penstock/internal/ruleset"
	"github.com/penstock-dev/penstock/internal/store"
)

const (
	// missingAfter is how long a ready pod without an ack is not held against its
	// policies: it has only just come up.
	missingAfter = 10 * time.Second
	// silentAfter is how long a sidecar may say nothing; it beats every 10 s.
	silentAfter = 30 * time.Second
)

// ackView is what is known of the acks of a namespace at one moment.
type ackView struct {
	// now is the operator's time, to which all times here are converted.
	now time.Time
	// listeningSince is since when acks could be read without interruption.
	listeningSince time.Time
	// acks are by pod uid.
	acks map[string]store.Ack
	// published is what stands in the store.
	published store.Publication
	// lastSeen is when a pod's last ack was written, also of one that is gone.
	lastSeen map[string]time.Time
}

// silent reports whether a pod has said nothing for too long. Time in which
// nobody could have heard it does not count.
func (v ackView) silent(pod podView) bool {
	quietSince := v.listeningSince
	for _, other := range []time.Time{pod.readySince, v.lastSeen[pod.uid]} {
		if other.After(quietSince) {
			quietSince = other
		}
	}
	return v.now.Sub(quietSince) > silentAfter
}

// enforces reports whether an ack is of a rule set at least as new as a change. One
// newer than any that stands here came from another store, whose clock was ahead,
// or from nobody: it proves something only if its content is what stands.
func (v ackView) enforces(ack store.Ack, changedAt int64) bool {
	known := ack.Sequence <= v.published.Sequence || ack.Revision == v.published.Revision
	return changedAt > 0 && ack.Sequence >= changedAt && known
}

// live reports whether a pod is ready and its sidecar speaks.
func (v ackView) live(pod podView) bool {
	_, found := v.acks[pod.uid]
	return found && pod.ready() && !v.silent(pod)
}

// podReport is how a policy stands in the pods that it selects.
type podReport struct {
	selected, injected, ready, enforcing, degraded int32
	// arriving are ready pods that have come up too recently to be missing.
	arriving int32
	// live are the ready pods whose sidecars speak.
	live int64
	// missing are sentences about ready pods that do not enforce the policy, by
	// the reason of the condition that they cause.
	missing map[string][]string
}

// countPods measures a policy in its pods. A pod enforces it if the sidecar has
// acknowledged a rule set at least as new as the policy's last change, and can read
// the requests of all ports that the policy is for.
func countPods(pods []podView, selectors []ruleset.Selector, changedAt int64, acks ackView) podReport {
	report := podReport{missing: map[string][]string{}}
	for _, pod := range pods {
		if !selects(selectors, pod.labels) {
			continue
		}
		report.selected++
		if pod.injected {
			report.injected++
		}
		if pod.ready() {
			report.ready++
		}
		if acks.live(pod) {
			report.live++
		}
		report.judge(pod, selectors, changedAt, acks)
	}
	return report
}

func (r *podReport) judge(pod podView, selectors []ruleset.Selector, changedAt int64, acks ackView) {
	ack, acknowledged := acks.acks[pod.uid]
	ack.NotHTTP = coveredPorts(ack.NotHTTP, pod, selectors)
	speaks := acknowledged && !acks.silent(pod)
	if speaks && ack.BreakerOpen {
		r.degraded++
	}
	enforces := pod.injected && speaks && acks.enforces(ack, changedAt)
	// Where a port's requests cannot be read, the policy is known and not enforced.
	if enforces && len(ack.NotHTTP) == 0 {
		r.enforcing++
	}
	if !pod.ready() {
		return
	}
	if !acknowledged && acks.now.Sub(pod.readySince) < missingAfter {
		r.arriving++
		return
	}
	reason, sentence := whyMissing(pod, ack, acknowledged, enforces, acks.silent(pod))
	if reason != "" {
		r.missing[reason] = append(r.missing[reason], sentence)
	}
}

// coveredPorts are those of a pod's ports that the selectors are for.
func coveredPorts(ports []int32, pod podView, selectors []ruleset.Selector) []int32 {
	var covered []int32
	for _, port := range ports {
		isFor := func(s ruleset.Selector) bool { return (s.Port == 0 || s.Port == port) && s.Selects(pod.labels) }
		if slices.ContainsFunc(selectors, isFor) {
			covered = append(covered, port)
		}
	}
	return covered
}

func whyMissing(pod podView, ack store.Ack, acknowledged, enforces, silent bool) (reason, sentence string) {
	switch {
	case !pod.injected:
		return v1alpha1.ReasonNotInjected, whyNotInjected(pod)
	case silent:
		return v1alpha1.ReasonSidecarSilent, fmt.Sprintf("the sidecar of pod %s has not been heard for %d s; see its log, "+
			"and whether a NetworkPolicy or the store's credentials keep it from the store", pod.name, int(silentAfter.Seconds()))
	case !enforces && ack.Problem != "":
		return v1alpha1.ReasonSidecarOutdated, fmt.Sprintf("the sidecar of pod %s (version %s) keeps its last rule set: %s; restart the pod to renew it",
			pod.name, ack.Version, ack.Problem)
	case !enforces && acknowledged:
		return v1alpha1.ReasonPending, fmt.Sprintf("pod %s still runs another rule set", pod.name)
	case !enforces:
		return v1alpha1.ReasonPending, fmt.Sprintf("pod %s has not acknowledged a rule set yet", pod.name)
	case len(ack.NotHTTP) > 0:
		return v1alpha1.ReasonNotHTTP, fmt.Sprintf("port %d of pod %s serves TLS, which passes through and is not limited; end TLS before the app, or leave the port out with the pod's annotation %s",
			ack.NotHTTP[0], pod.name, v1alpha1.AnnotationPorts)
	case ack.BreakerOpen:
		return v1alpha1.ReasonStoreDegraded, fmt.Sprintf("pod %s does not reach the store: each rule's onStoreFailure decides there", pod.name)
	}
	return "", ""
}

func whyNotInjected(pod podView) string {
	if pod.report != nil && !pod.report.Injected && pod.report.Reason != "" {
		sentence := fmt.Sprintf("pod %s has no sidecar: %s", pod.name, pod.report.Reason)
		if pod.report.Message != "" {
			sentence += ": " + pod.report.Message
		}
		return sentence
	}
	return fmt.Sprintf("pod %s has no sidecar: it was made before its namespace was labelled %s=enabled, or while the webhook was away; restart it",
		pod.name, v1alpha1.LabelInjection)
}

func selects(selectors []ruleset.Selector, labels map[string]string) bool {
	for _, selector := range selectors {
		if selector.Selects(labels) {
			return true
		}
	}
	return false
}

func (r *podReport) counts() *v1alpha1.PodCounts {
	return &v1alpha1.PodCounts{
		Selected:  r.selected,
		Injected:  r.injected,
		Enforcing: r.enforcing,
		Degraded:  r.degraded,
		Summary:   fmt.Sprintf("%d/%d", r.enforcing, r.selected),
	}
}
