// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package certificate

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"strconv"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// trust is the webhook's registration as it was read; registered is nil if there
// is none.
type trust struct {
	registered *admissionregistrationv1.MutatingWebhookConfiguration
}

func (r *Rotator) readTrust(ctx context.Context) (*trust, error) {
	configuration := &admissionregistrationv1.MutatingWebhookConfiguration{}
	err := r.reader.Get(ctx, client.ObjectKey{Name: ConfigurationName}, configuration)
	if apierrors.IsNotFound(err) {
		return &trust{}, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read mutatingwebhookconfiguration %q: %w", ConfigurationName, err)
	}
	return &trust{registered: configuration}, nil
}

// everywhere is the caBundle of all webhooks; nil if they differ or there is none.
func (t *trust) everywhere() []byte {
	if t.registered == nil || len(t.registered.Webhooks) == 0 {
		return nil
	}
	bundle := t.registered.Webhooks[0].ClientConfig.CABundle
	for _, webhook := range t.registered.Webhooks {
		if !bytes.Equal(webhook.ClientConfig.CABundle, bundle) {
			return nil
		}
	}
	return bundle
}

// publish makes the bundle the caBundle of all webhooks and returns whether it is:
// not if there is no registration. It heals what an apply or a hand removed.
func (r *Rotator) publish(ctx context.Context, t *trust, bundle []byte) (bool, error) {
	if t.registered == nil {
		return false, nil
	}
	type operation struct {
		Op    string `json:"op"`
		Path  string `json:"path"`
		Value any    `json:"value"`
	}
	var patch []operation
	for i, webhook := range t.registered.Webhooks {
		if bytes.Equal(webhook.ClientConfig.CABundle, bundle) {
			continue
		}
		path := "/webhooks/" + strconv.Itoa(i)
		patch = append(patch,
			operation{"test", path + "/name", webhook.Name},
			operation{"add", path + "/clientConfig/caBundle", bundle})
	}
	if len(patch) == 0 {
		return true, nil
	}
	text, err := json.Marshal(patch)
	if err != nil {
		return false, fmt.Errorf("encode patch of mutatingwebhookconfiguration %q: %w", ConfigurationName, err)
	}
	target := &admissionregistrationv1.MutatingWebhookConfiguration{}
	target.Name = ConfigurationName
	if err := r.writer.Patch(ctx, target, client.RawPatch(types.JSONPatchType, text)); err != nil {
		return false, fmt.Errorf("publish the certificate authority in mutatingwebhookconfiguration %q: %w", ConfigurationName, err)
	}
	return true, nil
}
