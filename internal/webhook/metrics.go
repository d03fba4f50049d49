// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package webhook

import (
	"errors"
	"fmt"

	"github.com/prometheus/client_golang/prometheus"
	"sigs.k8s.io/controller-runtime/pkg/metrics"
)

// Values of the label result.
const (
	resultInjected = "injected"
	resultSkipped  = "skipped"
	resultFailed   = "failed"
)

// Values of the label reason that are no reason of inject's. An injection without
// anything to remark has an empty one.
const (
	outcomeNoSecret   = "NoSecret"
	outcomeUnreadable = "Unreadable"
	outcomePanic      = "Panic"
)

var injections = prometheus.NewCounterVec(prometheus.CounterOpts{
	Name: "penstock_injections_total",
	Help: "Pods that the webhook was asked about, by result (injected, skipped, failed) and reason.",
}, []string{"result", "reason"})

func countInjection(injected bool, reason string) {
	result := resultSkipped
	if injected {
		result = resultInjected
	}
	injections.WithLabelValues(result, reason).Inc()
}

// register lets several managers run in one process, as tests do.
func register(collector prometheus.Collector) error {
	err := metrics.Registry.Register(collector)
	if _, registered := errors.AsType[prometheus.AlreadyRegisteredError](err); err != nil && !registered {
		return fmt.Errorf("register metrics: %w", err)
	}
	return nil
}
