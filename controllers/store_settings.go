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
	usernameKey    = "username"
	passwordKey    = "password"
	caKey          = "ca.crt"
	certificateKey = corev1.TLSCertKey
	privateKeyKey  = corev1.TLSPrivateKeyKey
)

// secretError says that a Secret which a store names cannot be used.
type secretError struct{ error }

// settingsReader makes the settings of a store from its object and the Secrets
// that it names, which are read in the operator's namespace only.
type settingsReader struct {
	secrets   client.Reader
	namespace string
}

// login is as whom a store is used: by a user or a certificate, or both.
type login struct {
	credentials *v1alpha1.Credentials
	certificate *v1alpha1.SecretReference
}

// operator is how the operator itself reaches a store.
func (r settingsReader) operator(ctx context.Context, store *v1alpha1.RateLimitStore) (redisconn.Settings, error) {
	own := login{credentials: store.Spec.Credentials}
	if store.Spec.TLS != nil {
		own.certificate = store.Spec.TLS.ClientCertificateSecretRef
	}
	return r.settings(ctx, store, own)
}

// sidecar is how sidecars reach a store: with a user and a certificate of their
// own, never with the operator's.
func (r settingsReader) sidecar(ctx context.Context, store *v1alpha1.RateLimitStore) (redisconn.Settings, error) {
	if store.Spec.SidecarCredentials == nil {
		return redisconn.Settings{}, fmt.Errorf("store %q has no spec.sidecarCredentials: sidecars never get the operator's; name a Secret for them", store.Name)
	}
	theirs := login{credentials: store.Spec.SidecarCredentials}
	if store.Spec.TLS != nil {
		theirs.certificate = store.Spec.TLS.SidecarCertificateSecretRef
	}
	return r.settings(ctx, store, theirs)
}

func (r settingsReader) settings(ctx context.Context, store *v1alpha1.RateLimitStore, as login) (redisconn.Settings, error) {
	spec := &store.Spec
	settings := redisconn.Settings{Mode: string(spec.Mode), Addresses: spec.Addresses, KeyPrefix: spec.KeyPrefix}
	if spec.Database != nil {
		settings.Database = int(*spec.Database)
	}
	if err := readTimeouts(spec.Timeouts, &settings); err != nil {
		return redisconn.Settings{}, fmt.Errorf("settings of store %q: %w", store.Name, err)
	}
	var err error
	if settings.Username, settings.Password, err = r.user(ctx, store, as.credentials); err != nil {
		return redisconn.Settings{}, err
	}
	if spec.Sentinel != nil {
		settings.MasterName = spec.Sentinel.MasterName
		// Whoever needs the master has to ask the sentinels: this user is everybody's.
		settings.SentinelUsername, settings.SentinelPassword, err = r.user(ctx, store, spec.Sentinel.Credentials)
		if err != nil {
			return redisconn.Settings{}, err
		}
	}
	if settings.TLS, err = r.tls(ctx, store, as.certificate); err != nil {
		return redisconn.Settings{}, err
	}
	if err := settings.Validate(); err != nil {
		return redisconn.Settings{}, secretError{fmt.Errorf("settings of store %q: %w", store.Name, err)}
	}
	return settings, nil
}

// user reads a user name and a password; both are empty without credentials.
func (r settingsReader) user(ctx context.Context, store *v1alpha1.RateLimitStore, credentials *v1alpha1.Credentials) (name, password string, err error) {
	if credentials == nil {
		return "", "", nil
	}
	secret, err := r.secret(ctx, store, credentials.SecretRef.Name)
	if err != nil {
		return "", "", err
	}
	return string(secret.Data[usernameKey]), string(secret.Data[passwordKey]), nil
}

// tls reads certificates; it is nil where the store is used in clear text.
func (r settingsReader) tls(ctx context.Context, store *v1alpha1.RateLimitStore, certificate *v1alpha1.SecretReference) (*redisconn.TLS, error) {
	spec := store.Spec.TLS
	if spec == nil {
		return nil, nil
	}
	secured := &redisconn.TLS{ServerName: spec.ServerName}
	if spec.CASecretRef != nil {
		found, err := r.contents(ctx, store, spec.CASecretRef.Name, caKey)
		if err != nil {
			return nil, err
		}
		secured.CA = found[0]
	}
	if certificate != nil {
		found, err := r.contents(ctx, store, certificate.Name, certificateKey, privateKeyKey)
		if err != nil {
			return nil, err
		}
		secured.Certificate, secured.Key = found[0], found[1]
	}
	return secured, nil
}

// contents are the values of keys that a Secret must have.
func (r settingsReader) contents(ctx context.Context, store *v1alpha1.RateLimitStore, name string, keys ...string) ([][]byte, error) {
	secret, err := r.secret(ctx, store, name)
	if err != nil {
		return nil, err
	}
	found := make([][]byte, len(keys))
	for i, key := range keys {
		if found[i] = secret.Data[key]; len(found[i]) == 0 {
			return nil, secretError{fmt.Errorf("secret %s/%s of store %q has no key %s", r.namespace, name, store.Name, key)}
		}
	}
	return found, nil
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
