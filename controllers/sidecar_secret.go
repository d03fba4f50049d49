// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package controllers

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	logf "sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/penstock-dev/penstock/api/v1alpha1"
	"github.com/penstock-dev/penstock/internal/compile"
	"github.com/penstock-dev/penstock/internal/ruleset"
)

// Keys of the Secret that sidecars mount.
const (
	// storeKey holds how sidecars reach the store: redisconn.Settings as JSON.
	storeKey = "store.json"
	// rulesKey holds the last publication: ruleset.Published as JSON. A pod that is
	// started while the store is down enforces it.
	rulesKey = "rules.json"
)

const (
	// maxSnapshotBytes leaves room for the settings in a Secret of 1 MiB.
	maxSnapshotBytes = 900 << 10
	// snapshotEvery is how often a namespace's snapshot is written at most.
	snapshotEvery = 30 * time.Second
	// settingsFor is how long a store's credentials are remembered: a rotation
	// reaches the sidecars' Secrets that much later.
	settingsFor = 10 * time.Second
)

// SidecarSecrets keep the Secret penstock-sidecar of each namespace with sidecars.
type SidecarSecrets struct {
	// reader reads stores and namespaces; secrets reads Secrets, uncached.
	reader, secrets client.Reader
	writer          client.Writer
	settings        settingsReader

	mu         sync.Mutex
	remembered map[string]rememberedSettings // by store
}

// rememberedSettings spare a namespace's pass the reading of its store's Secrets.
type rememberedSettings struct {
	uid        types.UID
	generation int64
	read       time.Time
	encoded    []byte
}

// NewSidecarSecrets returns the keeper of the Secrets of all namespaces.
func NewSidecarSecrets(reader, secrets client.Reader, writer client.Writer, operatorNamespace string) *SidecarSecrets {
	return &SidecarSecrets{
		reader: reader, secrets: secrets, writer: writer,
		settings:   settingsReader{secrets: secrets, namespace: operatorNamespace},
		remembered: map[string]rememberedSettings{},
	}
}

// EnsureSidecarSecret makes the Secret of a namespace if there is none, so that a
// namespace's first pod finds it. The snapshot follows from the namespace's
// reconciler.
func (k *SidecarSecrets) EnsureSidecarSecret(ctx context.Context, namespace string) error {
	_, err := k.read(ctx, namespace)
	if !apierrors.IsNotFound(err) {
		return err
	}
	object := &corev1.Namespace{}
	if err := k.reader.Get(ctx, client.ObjectKey{Name: namespace}, object); err != nil {
		return fmt.Errorf("read namespace %q: %w", namespace, err)
	}
	settings, err := k.sidecarSettings(ctx, storeName(object))
	if err != nil {
		return err
	}
	err = k.create(ctx, namespace, map[string][]byte{storeKey: settings})
	if apierrors.IsAlreadyExists(err) {
		return nil
	}
	return err
}

// Delete removes the Secret of a namespace, if there is one.
func (k *SidecarSecrets) Delete(ctx context.Context, namespace string) error {
	err := k.writer.Delete(ctx, &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: v1alpha1.SidecarSecretName}})
	if err := client.IgnoreNotFound(err); err != nil {
		return fmt.Errorf("delete secret %s/%s: %w", namespace, v1alpha1.SidecarSecretName, err)
	}
	return nil
}

// snapshot reads the snapshot of a namespace; its sequence is 0 if there is none.
func (k *SidecarSecrets) snapshot(ctx context.Context, namespace string) (ruleset.Published, error) {
	secret, err := k.read(ctx, namespace)
	if apierrors.IsNotFound(err) {
		return ruleset.Published{}, nil
	}
	if err != nil {
		return ruleset.Published{}, err
	}
	published := ruleset.Published{}
	if json.Unmarshal(secret.Data[rulesKey], &published) != nil {
		published = ruleset.Published{} // damaged by hand: as if it were not there
	}
	return published, nil
}

// sync brings the Secret up to date: changed settings at once, a changed snapshot
// at most every 30 s but at once where there is none. A Secret that a hand deleted
// or edited is mended within 30 s.
func (k *SidecarSecrets) sync(ctx context.Context, namespace, store string, m *memory, now time.Time) error {
	settings, err := k.sidecarSettings(ctx, store)
	if err != nil {
		// The store's own status says what is wrong with it.
		logf.FromContext(ctx).V(1).Info("Sidecars cannot be told of their store", "store", store, "error", err.Error())
		return nil
	}
	fresh := now.Sub(m.secret.checked) < snapshotEvery
	stands := m.secret.settings == string(settings) &&
		(m.secret.sequence == m.publication.Sequence || m.secret.sequence > 0 && now.Sub(m.secret.written) < snapshotEvery)
	if fresh && stands {
		return nil
	}
	data := map[string][]byte{storeKey: settings}
	known := m.published != nil && m.publication.Sequence > 0
	if known {
		if err := addSnapshot(ctx, data, m.published, m.publication.Sequence); err != nil {
			return err
		}
	}
	if err := k.apply(ctx, namespace, data, !known); err != nil {
		return err
	}
	if m.secret.sequence != m.publication.Sequence {
		m.secret.written = now
	}
	m.secret = secretMemory{checked: now, written: m.secret.written, settings: string(settings), sequence: m.publication.Sequence}
	return nil
}

// addSnapshot adds the last publication. A sidecar without a snapshot waits for
// the store, which is better than one that runs old rules: so one too large is
// left out.
func addSnapshot(ctx context.Context, data map[string][]byte, rs *ruleset.RuleSet, sequence int64) error {
	body, revision, err := ruleset.Encode(rs)
	if err != nil {
		return err
	}
	snapshot, err := json.Marshal(ruleset.Published{Sequence: sequence, Revision: revision, Body: body})
	if err != nil {
		return fmt.Errorf("encode snapshot of namespace %q: %w", rs.Namespace, err)
	}
	if len(snapshot) > maxSnapshotBytes {
		logf.FromContext(ctx).Info("Rule set is too large for a snapshot: pods that start while the store is down wait for it",
			"bytes", len(snapshot), "most", maxSnapshotBytes)
		return nil
	}
	data[rulesKey] = snapshot
	return nil
}

// sidecarSettings are the settings of a store as sidecars get them.
func (k *SidecarSecrets) sidecarSettings(ctx context.Context, name string) ([]byte, error) {
	object := &v1alpha1.RateLimitStore{}
	if err := k.reader.Get(ctx, client.ObjectKey{Name: name}, object); err != nil {
		return nil, fmt.Errorf("read store %q: %w", name, err)
	}
	if problems := compile.Store(object); len(problems) > 0 {
		return nil, fmt.Errorf("%w: %s: %s", errNotImplemented, problems[0].Field, problems[0].Message)
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	remembered := k.remembered[name]
	if remembered.uid == object.UID && remembered.generation == object.Generation && time.Since(remembered.read) < settingsFor {
		return remembered.encoded, nil
	}
	settings, err := k.settings.sidecar(ctx, object)
	if err != nil {
		return nil, err
	}
	encoded, err := json.Marshal(settings)
	if err != nil {
		return nil, fmt.Errorf("encode settings of store %q: %w", name, err)
	}
	k.remembered[name] = rememberedSettings{uid: object.UID, generation: object.Generation, read: time.Now(), encoded: encoded}
	return encoded, nil
}

func (k *SidecarSecrets) read(ctx context.Context, namespace string) (*corev1.Secret, error) {
	secret := &corev1.Secret{}
	err := k.secrets.Get(ctx, client.ObjectKey{Namespace: namespace, Name: v1alpha1.SidecarSecretName}, secret)
	if err != nil {
		return nil, fmt.Errorf("read secret %s/%s: %w", namespace, v1alpha1.SidecarSecretName, err)
	}
	return secret, nil
}

func (k *SidecarSecrets) create(ctx context.Context, namespace string, data map[string][]byte) error {
	err := k.writer.Create(ctx, &corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: v1alpha1.SidecarSecretName, Labels: managedByPenstock()},
		Type:       corev1.SecretTypeOpaque,
		Data:       data,
	})
	if err != nil {
		return fmt.Errorf("create secret %s/%s: %w", namespace, v1alpha1.SidecarSecretName, err)
	}
	return nil
}

// apply makes the Secret hold exactly the data, but for a snapshot that is to be
// kept because nothing is known that could replace it.
func (k *SidecarSecrets) apply(ctx context.Context, namespace string, data map[string][]byte, keepSnapshot bool) error {
	secret, err := k.read(ctx, namespace)
	if apierrors.IsNotFound(err) {
		return k.create(ctx, namespace, data)
	}
	if err != nil {
		return err
	}
	if snapshot, found := secret.Data[rulesKey]; found && keepSnapshot {
		data[rulesKey] = snapshot
	}
	if maps.EqualFunc(secret.Data, data, bytes.Equal) {
		return nil
	}
	before := secret.DeepCopy()
	secret.Data = data
	if err := k.writer.Patch(ctx, secret, client.MergeFrom(before)); err != nil {
		return fmt.Errorf("patch secret %s/%s: %w", namespace, v1alpha1.SidecarSecretName, err)
	}
	return nil
}
