// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package webhook

import (
	"context"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	logf "sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/penstock-dev/penstock/internal/webhook/inject"
)

// +kubebuilder:rbac:groups="",resources=resourcequotas,verbs=get;list;watch

// namespace is what injection has to know of a namespace. A quota on limits rejects
// pods with a container that has none, so the sidecar must have one there. Scopes
// are not looked at: a limit more than needed rejects nothing.
func (i *injector) namespace(ctx context.Context, name string) inject.Namespace {
	var quotas corev1.ResourceQuotaList
	if err := i.reader.List(ctx, &quotas, client.InNamespace(name)); err != nil {
		logf.FromContext(ctx).Error(err, "Quotas are unknown, the sidecar gets no limits for them", "namespace", name)
		return inject.Namespace{}
	}
	var facts inject.Namespace
	for _, quota := range quotas.Items {
		_, cpu := quota.Spec.Hard[corev1.ResourceLimitsCPU]
		_, memory := quota.Spec.Hard[corev1.ResourceLimitsMemory]
		facts.CPULimitRequired = facts.CPULimitRequired || cpu
		facts.MemoryLimitRequired = facts.MemoryLimitRequired || memory
	}
	return facts
}
