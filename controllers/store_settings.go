// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package controllers

import (
	"context"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/penstock-dev/penstock/api/v1alpha1"
	"github.com/penstock-dev/penstock/internal/redisconn"
)

// Keys of the Secrets that a RateLimitStore names.
const (
	usernameKey = "username"
	passwordKey = "password"
	caKey       = "ca.crt"
)

// secretError says that a Secret which a store names cannot be used.
type secretError struct{ error }

// settingsReader makes the settings of a store from its object and the Secrets
// that it names, which are read in the operator's namespace only.
type settingsReader struct {
	secrets   client.Reader
	namespace string
}

// operator is how the operator itself reaches a store.
func (r settingsReader) operator(ctx context.Context, store *v1alpha1.RateLimitStore) (redisconn.Settings, error) {
	return r.settings(ctx, store, store.Spec.Credentials)
}

// sidecar is how sidecars reach a store: with a user of their own, never with the
// operator's.
func (r settingsReader) sidecar(ctx context.Context, store *v1alpha1.RateLimitStore) (redisconn.Settings, error) {
	if store.Spec.SidecarCredentials == nil {
		return redisconn.Settings{}, fmt.Errorf("store %q has no spec.sidecarCredentials: sidecars never get the operator's; name a Secret for them", store.Name)
	}
	return r.settings(ctx, store, store.Spec.SidecarCredentials)
}

func (r settingsReader) settings(ctx context.Context, store *v1alpha1.RateLimitStore, credentials *v1alpha1.Credentials) (redisconn.Settings, error) {
	spec := &store.Spec
	settings := redisconn.Settings{Mode: string(spec.Mode), Addresses: spec.Addresses, KeyPrefix: spec.KeyPrefix}
	if spec.Database != nil {
		settings.Database = int(*spec.Database)
	}
	if err := readTimeouts(spec.Timeouts, &settings); err != nil {
		return redisconn.Settings{}, fmt.Errorf("settings of store %q: %w", store.Name, err)
	}
	if credentials != nil {
		secret, err := r.secret(ctx, store, credentials.SecretRef.Name)
		if err != nil {
			return redisconn.Settings{}, err
		}
		settings.Username, settings.Password = string(secret.Data[usernameKey]), string(secret.Data[passwordKey])
	}
	if spec.TLS != nil {
		settings.TLS = &redisconn.TLS{ServerName: spec.TLS.ServerName}
		if spec.TLS.CASecretRef != nil {
			secret, err := r.secret(ctx, store, spec.TLS.CASecretRef.Name)
			if err != nil {
				return redisconn.Settings{}, err
			}
			if settings.TLS.CA = secret.Data[caKey]; len(settings.TLS.CA) == 0 {
				return redisconn.Settings{}, secretError{fmt.Errorf("secret %s/%s of store %q has no key %s", r.namespace, secret.Name, store.Name, caKey)}
			}
		}
	}
	if err := settings.Validate(); err != nil {
		return redisconn.Settings{}, secretError{fmt.Errorf("settings of store %q: %w", store.Name, err)}
	}
	return settings, nil
}

func (r settingsReader) secret(ctx context.Context, store *v1alpha1.RateLimitStore, name string) (*corev1.Secret, error) {
	secret := &corev1.Secret{}
	if err := r.secrets.Get(ctx, client.ObjectKey{Namespace: r.namespace, Name: name}, secret); err != nil {
		return nil, secretError{fmt.Errorf("read secret %s/%s, which store %q names: %w", r.namespace, name, store.Name, err)}
	}
	return secret, nil
}

func readTimeouts(timeouts *v1alpha1.StoreTimeouts, settings *redisconn.Settings) error {
	if timeouts == nil {
		return nil
	}
	for _, entry := range []struct {
		field string
		text  v1alpha1.Duration
		value *time.Duration
	}{
		{"spec.timeouts.operation", timeouts.Operation, &settings.OperationTimeout},
		{"spec.timeouts.dial", timeouts.Dial, &settings.DialTimeout},
	} {
		if entry.text == "" {
			continue
		}
		duration, err := time.ParseDuration(string(entry.text))
		if err != nil {
			return fmt.Errorf("%s: %q is not a duration such as 25ms: %w", entry.field, entry.text, err)
		}
		*entry.value = duration
	}
	return nil
}
