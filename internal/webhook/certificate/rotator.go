// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package certificate

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net/http"
	"sync/atomic"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	logf "sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
)

const (
	// SecretName is the Secret, in the operator's namespace, with the certificates.
	SecretName = "penstock-webhook-tls"
	// ServiceName is the Service by which API servers reach the webhook.
	ServiceName = "penstock-webhook"
	// ConfigurationName is the MutatingWebhookConfiguration whose caBundle is kept.
	ConfigurationName = "penstock"
)

// pollEvery is how often Secret and registration are looked at without an event,
// and how long a rotation's next step waits.
const pollEvery = 10 * time.Second

// Options have useful zero values, but for Namespace.
type Options struct {
	// Namespace is the operator's own.
	Namespace string
	// Lifetime is how long a certificate is valid; it is replaced at two thirds of
	// it. Absent is 90 days.
	Lifetime time.Duration
	// Settle is how long a new authority is published before its certificate is
	// served. Absent is one minute.
	Settle time.Duration
	// Now is the clock; absent is time.Now.
	Now func() time.Time
}

// Rotator serves the webhook's certificate and keeps it fresh. Every replica of the
// operator runs one.
type Rotator struct {
	namespace string
	policy    policy
	now       func() time.Time

	// reader is uncached: a decision on an old Secret would make a second pair.
	reader  client.Reader
	writer  client.Writer
	serving atomic.Pointer[pair]
}

// New returns a rotator, which serves nothing until it is set up with a manager
// that runs.
func New(options Options) *Rotator {
	if options.Lifetime == 0 {
		options.Lifetime = 90 * 24 * time.Hour
	}
	if options.Settle == 0 {
		options.Settle = time.Minute
	}
	if options.Now == nil {
		options.Now = time.Now
	}
	service := ServiceName + "." + options.Namespace + ".svc"
	return &Rotator{
		namespace: options.Namespace,
		now:       options.Now,
		policy: policy{
			names:    []string{service, service + ".cluster.local", "localhost"},
			lifetime: options.Lifetime,
			settle:   options.Settle,
		},
	}
}

// TLS makes a server present the rotator's certificate; it is an element of
// TLSOpts of controller-runtime's webhook server.
func (r *Rotator) TLS(config *tls.Config) {
	config.MinVersion = tls.VersionTLS12
	config.GetCertificate = r.GetCertificate
}

// GetCertificate is for tls.Config.
func (r *Rotator) GetCertificate(*tls.ClientHelloInfo) (*tls.Certificate, error) {
	serving := r.serving.Load()
	if serving == nil {
		return nil, errors.New("the webhook has no certificate yet; it is made when the operator starts, see its log")
	}
	return &serving.serving, nil
}

// Ready is an error until there is a certificate to serve: a readiness check.
func (r *Rotator) Ready(*http.Request) error {
	_, err := r.GetCertificate(nil)
	return err
}

// Reconcile brings the Secret, the registration and what is served one step further.
// Several replicas do this at once: each step starts from what it reads, is written
// only over what was read, and is safe to repeat.
func (r *Rotator) Reconcile(ctx context.Context, _ reconcile.Request) (reconcile.Result, error) {
	trust, err := r.readTrust(ctx)
	if err != nil {
		return reconcile.Result{}, err
	}
	current, err := r.advance(ctx, trust)
	if apierrors.IsConflict(err) || apierrors.IsAlreadyExists(err) {
		// Another replica was faster; its state is taken up at once.
		return reconcile.Result{RequeueAfter: time.Millisecond}, nil
	}
	if err != nil {
		return reconcile.Result{}, err
	}
	bundle := current.bundle(r.serving.Load())
	published, err := r.publish(ctx, trust, bundle)
	if err != nil {
		return reconcile.Result{}, err
	}
	r.serve(ctx, current.current, trust, published)
	return reconcile.Result{RequeueAfter: pollEvery}, nil
}

// advance reads the Secret and writes the state that should follow.
func (r *Rotator) advance(ctx context.Context, trust *trust) (state, error) {
	secret := &corev1.Secret{}
	key := client.ObjectKey{Namespace: r.namespace, Name: SecretName}
	err := r.reader.Get(ctx, key, secret)
	absent := apierrors.IsNotFound(err)
	if err != nil && !absent {
		return state{}, fmt.Errorf("read secret %s: %w", key, err)
	}
	before := decodeState(secret.Data)
	after, changed, err := before.advance(r.policy, trust.everywhere(), r.now())
	if err != nil || !changed {
		return after, err
	}
	secret.Data = after.encode()
	if absent {
		secret.ObjectMeta = metav1.ObjectMeta{Namespace: key.Namespace, Name: key.Name}
		secret.Type = corev1.SecretTypeTLS
		err = r.writer.Create(ctx, secret)
	} else {
		err = r.writer.Update(ctx, secret) // fails on a Secret that changed since
	}
	if err != nil {
		return state{}, fmt.Errorf("write secret %s: %w", key, err)
	}
	logf.FromContext(ctx).Info("Webhook certificates advanced",
		"expires", after.current.expires(), "rotating", after.next != nil)
	return after, nil
}

// serve switches to the current pair once API servers trust it: at once if nothing
// is served or nobody calls, else only if they did already when this step began.
func (r *Rotator) serve(ctx context.Context, current *pair, before *trust, published bool) {
	serving := r.serving.Load()
	trusted := before.registered == nil || current.trustedBy(before.everywhere()) || serving == nil && published
	if trusted && (serving == nil || string(serving.certificate) != string(current.certificate)) {
		r.serving.Store(current)
		logf.FromContext(ctx).Info("Webhook serves a new certificate", "expires", current.expires())
	}
	if serving = r.serving.Load(); serving != nil {
		expirySeconds.Set(serving.expires().Sub(r.now()).Seconds())
	}
}
