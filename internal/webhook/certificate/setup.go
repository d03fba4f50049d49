// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package certificate

import (
	"context"
	"errors"
	"fmt"

	"github.com/prometheus/client_golang/prometheus"
	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/fields"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/cluster"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	"sigs.k8s.io/controller-runtime/pkg/metrics"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
	"sigs.k8s.io/controller-runtime/pkg/source"
)

// +kubebuilder:rbac:groups="",namespace=penstock-system,resources=secrets,verbs=create
// +kubebuilder:rbac:groups="",namespace=penstock-system,resources=secrets,resourceNames=penstock-webhook-tls,verbs=get;list;watch;update
// +kubebuilder:rbac:groups=admissionregistration.k8s.io,resources=mutatingwebhookconfigurations,resourceNames=penstock,verbs=get;list;watch;patch

// SetupWithManager lets the rotator run, on every replica, and adds its readiness
// check to the manager's.
func (r *Rotator) SetupWithManager(mgr manager.Manager) error {
	if err := register(expirySeconds); err != nil {
		return err
	}
	r.reader, r.writer = mgr.GetAPIReader(), mgr.GetClient()
	if err := mgr.AddReadyzCheck("webhook-certificate", r.Ready); err != nil {
		return fmt.Errorf("add readiness check: %w", err)
	}
	watched, err := r.watched(mgr)
	if err != nil {
		return err
	}
	c, err := controller.New("webhook-certificate", mgr, controller.Options{Reconciler: r, NeedLeaderElection: new(false)})
	if err != nil {
		return fmt.Errorf("make the controller of the webhook's certificates: %w", err)
	}
	// One step concerns everything, whatever the event was about. The first is
	// taken without an event: there may be neither Secret nor registration yet.
	all := handler.EnqueueRequestsFromMapFunc(func(context.Context, client.Object) []reconcile.Request {
		return []reconcile.Request{{NamespacedName: client.ObjectKey{Namespace: r.namespace, Name: SecretName}}}
	})
	first := make(chan event.GenericEvent, 1)
	first <- event.GenericEvent{Object: &corev1.Secret{}}
	return errors.Join(
		c.Watch(source.Channel(first, all)),
		c.Watch(source.Kind[client.Object](watched, &corev1.Secret{}, all)),
		c.Watch(source.Kind[client.Object](watched, &admissionregistrationv1.MutatingWebhookConfiguration{}, all)),
	)
}

// watched is a cache of the two objects alone: the operator has no right to see
// other Secrets, nor reason to keep them.
func (r *Rotator) watched(mgr manager.Manager) (cache.Cache, error) {
	two, err := cluster.New(mgr.GetConfig(), func(options *cluster.Options) {
		options.Scheme = mgr.GetScheme()
		options.Cache.ByObject = map[client.Object]cache.ByObject{
			&corev1.Secret{}: {
				Namespaces: map[string]cache.Config{r.namespace: {}},
				Field:      fields.OneTermEqualSelector("metadata.name", SecretName),
			},
			&admissionregistrationv1.MutatingWebhookConfiguration{}: {
				Field: fields.OneTermEqualSelector("metadata.name", ConfigurationName),
			},
		}
	})
	if err != nil {
		return nil, fmt.Errorf("make a cache of the webhook's certificates: %w", err)
	}
	if err := mgr.Add(two); err != nil {
		return nil, fmt.Errorf("add the cache of the webhook's certificates: %w", err)
	}
	return two.GetCache(), nil
}

// register lets several managers run in one process, as tests do.
func register(collector prometheus.Collector) error {
	err := metrics.Registry.Register(collector)
	if _, registered := errors.AsType[prometheus.AlreadyRegisteredError](err); err != nil && !registered {
		return fmt.Errorf("register metrics: %w", err)
	}
	return nil
}
