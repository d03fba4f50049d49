// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package controllers

import (
	"context"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"fmt"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/wait"
	"sigs.k8s.io/controller-runtime/pkg/client"
	logf "sigs.k8s.io/controller-runtime/pkg/log"
)

const (
	// identitySecretName is the Secret of the operator's namespace under which the
	// identity keys of all namespaces are made.
	identitySecretName = "penstock-identity"
	identityDataKey    = "key"
	identityKeyBytes   = 32
	// identityEvery is how often the Secret is looked for.
	identityEvery = 30 * time.Second
)

// Identity makes the keys that hash the identities of requests. They come from a
// Secret that is made once, so counters keep their names over a flush of the store
// and a restart of the operator.
type Identity struct {
	reader    client.Reader
	writer    client.Writer
	namespace string

	mu     sync.Mutex
	secret []byte
}

// NewIdentity returns an Identity whose Secret lies in the operator's namespace.
// The reader must not be cached.
func NewIdentity(reader client.Reader, writer client.Writer, namespace string) *Identity {
	return &Identity{reader: reader, writer: writer, namespace: namespace}
}

// Key is the identity key of a namespace, which is known by its uid: one that is
// deleted and made again under the same name starts with fresh counters.
func (i *Identity) Key(ctx context.Context, namespaceUID types.UID) ([]byte, error) {
	i.mu.Lock()
	defer i.mu.Unlock()
	if i.secret == nil {
		secret, err := i.load(ctx)
		if err != nil {
			return nil, err
		}
		i.secret = secret
	}
	mac := hmac.New(sha256.New, i.secret)
	mac.Write([]byte(namespaceUID))
	return mac.Sum(nil), nil
}

// Start implements manager.Runnable.
func (i *Identity) Start(ctx context.Context) error {
	wait.UntilWithContext(ctx, func(ctx context.Context) {
		if err := i.Restore(ctx); err != nil {
			logf.FromContext(ctx).Error(err, "Identity key could not be kept safe")
		}
	}, identityEvery)
	return nil
}

// Restore puts the Secret back if it vanished while its key is known here. The next
// operator would else make another key, and all counts of the cluster start fresh.
func (i *Identity) Restore(ctx context.Context) error {
	i.mu.Lock()
	defer i.mu.Unlock()
	if i.secret == nil {
		return nil
	}
	if _, err := i.read(ctx); !apierrors.IsNotFound(err) {
		return err
	}
	return client.IgnoreAlreadyExists(i.create(ctx, i.secret))
}

// load reads the Secret, and makes it if there is none. Of several operators that
// make it at the same time one wins, and the others read what it made.
func (i *Identity) load(ctx context.Context) ([]byte, error) {
	if key, err := i.read(ctx); !apierrors.IsNotFound(err) {
		return key, err
	}
	key := make([]byte, identityKeyBytes)
	if _, err := rand.Read(key); err != nil {
		return nil, fmt.Errorf("make an identity key: %w", err)
	}
	err := i.create(ctx, key)
	if apierrors.IsAlreadyExists(err) {
		return i.read(ctx)
	}
	return key, err
}

func (i *Identity) create(ctx context.Context, key []byte) error {
	err := i.writer.Create(ctx, &corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{Namespace: i.namespace, Name: identitySecretName, Labels: managedByPenstock()},
		Type:       corev1.SecretTypeOpaque,
		Data:       map[string][]byte{identityDataKey: key},
	})
	if err != nil {
		return fmt.Errorf("create secret %s/%s: %w", i.namespace, identitySecretName, err)
	}
	return nil
}

func (i *Identity) read(ctx context.Context) ([]byte, error) {
	secret := &corev1.Secret{}
	err := i.reader.Get(ctx, client.ObjectKey{Namespace: i.namespace, Name: identitySecretName}, secret)
	if err != nil {
		return nil, fmt.Errorf("read secret %s/%s: %w", i.namespace, identitySecretName, err)
	}
	key := secret.Data[identityDataKey]
	if len(key) < identityKeyBytes {
		return nil, fmt.Errorf("read secret %s/%s: key %q has %d bytes, want at least %d; delete the Secret to have it made anew (all counts start fresh)",
			i.namespace, identitySecretName, identityDataKey, len(key), identityKeyBytes)
	}
	return key, nil
}

func managedByPenstock() map[string]string {
	return map[string]string{"app.kubernetes.io/managed-by": "penstock"}
}
