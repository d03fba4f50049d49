// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package controllers

import (
	"errors"
	"fmt"
	"time"

	"k8s.io/client-go/util/flowcontrol"
	ctrl "sigs.k8s.io/controller-runtime"
)

const (
	// outageWritesPerSecond and outageWritesBurst bound the status writes that an
	// outage of a store causes, over all policies.
	outageWritesPerSecond = 20
	outageWritesBurst     = 50
)

// Options say where the operator runs.
type Options struct {
	// Namespace is the operator's own: the Secrets that stores name lie there.
	Namespace string
	// Now is the clock that ages are judged by. Absent: time.Now.
	Now func() time.Time
}

// Setup registers all reconcilers with the manager. The SidecarSecrets that it
// returns are for the webhook.
func Setup(mgr ctrl.Manager, options Options) (*SidecarSecrets, error) {
	if options.Namespace == "" {
		return nil, errors.New("set up controllers: Options.Namespace is empty")
	}
	if options.Now == nil {
		options.Now = time.Now
	}
	reader, uncached, writer := mgr.GetClient(), mgr.GetAPIReader(), mgr.GetClient()
	recorder := mgr.GetEventRecorder("penstock")
	stores := NewStores(reader, uncached, options.Namespace)
	secrets := NewSidecarSecrets(reader, uncached, writer, options.Namespace)
	identity := NewIdentity(uncached, writer, options.Namespace)
	if err := errors.Join(mgr.Add(stores), mgr.Add(identity)); err != nil {
		return nil, fmt.Errorf("add the stores and the identity to the manager: %w", err)
	}
	reconcilers := []struct {
		name  string
		setup func(ctrl.Manager) error
	}{
		{"namespace", (&NamespaceReconciler{
			reader: reader, writer: writer, stores: stores, secrets: secrets,
			identity:     identity,
			events:       recorder,
			outageWrites: flowcontrol.NewTokenBucketPassiveRateLimiter(outageWritesPerSecond, outageWritesBurst),
			memories:     newMemories(),
			now:          options.Now,
		}).setup},
		{"store", (&StoreReconciler{reader: reader, writer: writer, stores: stores, events: recorder}).setup},
		{"cluster policy", (&ClusterPolicyReconciler{reader: reader, writer: writer, events: recorder}).setup},
		{"pod", (&PodReconciler{reader: reader, events: recorder, now: options.Now}).setup},
	}
	for _, reconciler := range reconcilers {
		if err := reconciler.setup(mgr); err != nil {
			return nil, fmt.Errorf("set up the %s reconciler: %w", reconciler.name, err)
		}
	}
	return secrets, nil
}
