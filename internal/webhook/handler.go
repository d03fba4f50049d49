// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package webhook

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	admissionv1 "k8s.io/api/admission/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	logf "sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"

	"github.com/penstock-dev/penstock/internal/webhook/inject"
)

// secretTimeout bounds making a namespace's Secret: the API server waits 3 s for an
// answer at most.
const secretTimeout = 1500 * time.Millisecond

// kubeSystem is never touched.
const kubeSystem = "kube-system"

// Bundles make what the sidecars of a namespace mount.
type Bundles interface {
	// EnsureSidecarSecret makes the namespace's Secret penstock-sidecar if there
	// is none.
	EnsureSidecarSecret(ctx context.Context, namespace string) error
}

// injector handles the admission of pods.
type injector struct {
	// reader reads the ResourceQuotas of a namespace, from a cache.
	reader  client.Reader
	bundles Bundles
	// own is the operator's namespace, which is never touched.
	own     string
	options inject.Options
}

// Handle admits every pod, with a sidecar where inject puts one. The namespace is
// the request's: a pod made from a template may not name it yet.
func (i *injector) Handle(ctx context.Context, request admission.Request) (response admission.Response) {
	defer admitAnyway(ctx, &response)
	if request.Namespace == i.own || request.Namespace == kubeSystem {
		return admission.Allowed("")
	}
	result, err := inject.Pod(request.Object.Raw, i.namespace(ctx, request.Namespace), i.options)
	if err != nil {
		return failed(ctx, outcomeUnreadable, err)
	}
	outcome := result.Report.Reason
	if result.Report.Injected {
		outcome = i.ensureSecret(ctx, request)
	}
	countInjection(result.Report.Injected, outcome)
	return patched(ctx, result.Patch)
}

// ensureSecret makes the namespace's Secret and returns what to count beside the
// injection. The sidecar does without the Secret until it is there, so a failure
// changes nothing for the pod; a dry run must leave nothing behind.
func (i *injector) ensureSecret(ctx context.Context, request admission.Request) string {
	if request.DryRun != nil && *request.DryRun {
		return ""
	}
	ctx, cancel := context.WithTimeout(ctx, secretTimeout)
	defer cancel()
	if err := i.bundles.EnsureSidecarSecret(ctx, request.Namespace); err != nil {
		logf.FromContext(ctx).Error(err, "Namespace has no Secret for its sidecars yet, the pod is injected without", "namespace", request.Namespace)
		return outcomeNoSecret
	}
	return ""
}

// patched admits with changes. They are encoded here, as inject wrote them.
func patched(ctx context.Context, operations []inject.Operation) admission.Response {
	response := admission.Allowed("")
	if len(operations) == 0 {
		return response
	}
	patch, err := json.Marshal(operations)
	if err != nil {
		return failed(ctx, outcomeUnreadable, fmt.Errorf("encode patch: %w", err))
	}
	response.Patch, response.PatchType = patch, new(admissionv1.PatchTypeJSONPatch)
	return response
}

// failed admits the pod as it is. An error as the answer would refuse the pod even
// with failurePolicy Ignore, which only covers webhooks that do not answer.
func failed(ctx context.Context, outcome string, err error) admission.Response {
	logf.FromContext(ctx).Error(err, "Pod is admitted without a sidecar")
	injections.WithLabelValues(resultFailed, outcome).Inc()
	return admission.Allowed("")
}

// admitAnyway turns a panic into the admission of the pod as it is.
func admitAnyway(ctx context.Context, response *admission.Response) {
	if problem := recover(); problem != nil {
		*response = failed(ctx, outcomePanic, fmt.Errorf("panic while injecting: %v", problem))
	}
}
