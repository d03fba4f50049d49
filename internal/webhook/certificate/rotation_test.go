// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package certificate

import (
	"bytes"
	"crypto/tls"
	"crypto/x509"
	"net"
	"sync/atomic"
	"testing"
	"time"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
)

const day = 24 * time.Hour

// world is a cluster with the webhook's registration, and a clock that is stepped.
type world struct {
	client  client.Client
	elapsed atomic.Int64
}

func newWorld(t *testing.T, objects ...client.Object) *world {
	t.Helper()
	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{corev1.AddToScheme, admissionregistrationv1.AddToScheme} {
		if err := add(scheme); err != nil {
			t.Fatal(err)
		}
	}
	return &world{
		client: fake.NewClientBuilder().WithScheme(scheme).WithObjects(objects...).Build(),
	}
}

func registration() *admissionregistrationv1.MutatingWebhookConfiguration {
	return &admissionregistrationv1.MutatingWebhookConfiguration{
		ObjectMeta: metav1.ObjectMeta{Name: ConfigurationName},
		Webhooks:   []admissionregistrationv1.MutatingWebhook{{Name: "inject.penstock.dev"}, {Name: "opt-in.penstock.dev"}},
	}
}

func (w *world) now() time.Time {
	return time.Date(2030, 1, 1, 0, 0, 0, 0, time.UTC).Add(time.Duration(w.elapsed.Load()))
}

func (w *world) pass(d time.Duration) { w.elapsed.Add(int64(d)) }

// replica is an operator with a server that presents the rotator's certificate.
type replica struct {
	*Rotator
	address string
}

func (w *world) replica(t *testing.T) replica {
	t.Helper()
	r := New(Options{Namespace: "penstock-system", Now: w.now})
	r.reader, r.writer = w.client, w.client
	config := &tls.Config{Time: w.now}
	r.TLS(config)
	listener, err := tls.Listen("tcp", "127.0.0.1:0", config)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { listener.Close() })
	go func() {
		for {
			connection, err := listener.Accept()
			if err != nil {
				return
			}
			_ = connection.(*tls.Conn).HandshakeContext(t.Context())
			connection.Close()
		}
	}()
	return replica{r, listener.Addr().String()}
}

// step reconciles until nothing more is asked for at once.
func (r replica) step(t *testing.T) {
	t.Helper()
	for range 10 {
		result, err := r.Reconcile(t.Context(), reconcile.Request{})
		if err != nil {
			t.Fatalf("reconcile: %v", err)
		}
		if result.RequeueAfter >= pollEvery {
			return
		}
	}
	t.Fatal("reconcile asks to be repeated ten times over")
}

// trusted is what an API server that is up to date trusts.
func (w *world) trusted(t *testing.T) []byte {
	t.Helper()
	var configuration admissionregistrationv1.MutatingWebhookConfiguration
	if err := w.client.Get(t.Context(), client.ObjectKey{Name: ConfigurationName}, &configuration); err != nil {
		t.Fatal(err)
	}
	for _, webhook := range configuration.Webhooks {
		if !bytes.Equal(webhook.ClientConfig.CABundle, configuration.Webhooks[0].ClientConfig.CABundle) {
			t.Fatal("the webhooks' caBundles differ")
		}
	}
	return configuration.Webhooks[0].ClientConfig.CABundle
}

// handshake connects as an API server does and returns what the server presented.
func (w *world) handshake(t *testing.T, r replica, bundle []byte) *x509.Certificate {
	t.Helper()
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM(bundle)
	dialer := &tls.Dialer{
		NetDialer: &net.Dialer{Timeout: 5 * time.Second},
		Config:    &tls.Config{RootCAs: roots, ServerName: "penstock-webhook.penstock-system.svc", Time: w.now},
	}
	connection, err := dialer.DialContext(t.Context(), "tcp", r.address)
	if err != nil {
		t.Fatalf("%s: handshake: %v", w.now().Format(time.DateTime), err)
	}
	defer connection.Close()
	return connection.(*tls.Conn).ConnectionState().PeerCertificates[0]
}

// TestRotationFailsNoHandshake lives through most of a year with three replicas, of
// which the last wakes only every second time, and with API servers of which one
// hears of a new caBundle only a step later.
func TestRotationFailsNoHandshake(t *testing.T) {
	t.Parallel()
	w := newWorld(t, registration())
	replicas := []replica{w.replica(t), w.replica(t), w.replica(t)}
	for _, r := range replicas {
		r.step(t)
	}
	late := w.trusted(t)
	serials := map[string]bool{}
	check := func() {
		for _, r := range replicas {
			for _, bundle := range [][]byte{late, w.trusted(t)} {
				serials[w.handshake(t, r, bundle).SerialNumber.String()] = true
			}
		}
		late = w.trusted(t)
		if count := bytes.Count(late, []byte("BEGIN CERTIFICATE")); count > 3 {
			t.Fatalf("%d certificates in the caBundle, want at most 3", count)
		}
	}
	check()
	for round := range 150 {
		w.pass(2 * day)
		awake := replicas
		if round%2 == 0 {
			awake = replicas[:2]
		}
		for _, r := range awake {
			r.step(t)
			check()
		}
	}
	// 300 days with a change every 60.
	if len(serials) < 5 || len(serials) > 6 {
		t.Errorf("%d certificates were served in 300 days, want 5 or 6", len(serials))
	}
}

// TestNewAuthorityIsTrustedBeforeItIsServed looks at the steps of one rotation.
func TestNewAuthorityIsTrustedBeforeItIsServed(t *testing.T) {
	t.Parallel()
	w := newWorld(t, registration())
	r := w.replica(t)
	r.step(t)
	first, before := w.handshake(t, r, w.trusted(t)), w.trusted(t)

	w.pass(59 * day)
	r.step(t)
	if !bytes.Equal(w.trusted(t), before) {
		t.Error("the caBundle changed before two thirds of the certificate's life")
	}
	w.pass(day)
	r.step(t)
	if !bytes.HasPrefix(w.trusted(t), before) || len(w.trusted(t)) == len(before) {
		t.Error("the caBundle does not hold the new authority beside the old one")
	}
	w.pass(30 * time.Second)
	r.step(t)
	if got := w.handshake(t, r, w.trusted(t)); !got.Equal(first) {
		t.Error("the new certificate is served before its authority has settled")
	}
	w.pass(30 * time.Second)
	r.step(t)
	if got := w.handshake(t, r, w.trusted(t)); got.Equal(first) {
		t.Error("the new certificate is not served a minute after its authority was published")
	}
	if !bytes.Contains(w.trusted(t), before) {
		t.Error("the old authority is gone while a late replica may serve its certificate")
	}
}

func TestWipedBundleIsPutBack(t *testing.T) {
	t.Parallel()
	w := newWorld(t, registration())
	r := w.replica(t)
	r.step(t)
	want := w.trusted(t)
	var configuration admissionregistrationv1.MutatingWebhookConfiguration
	if err := w.client.Get(t.Context(), client.ObjectKey{Name: ConfigurationName}, &configuration); err != nil {
		t.Fatal(err)
	}
	for i := range configuration.Webhooks {
		configuration.Webhooks[i].ClientConfig.CABundle = nil
	}
	if err := w.client.Update(t.Context(), &configuration); err != nil {
		t.Fatal(err)
	}
	r.step(t)
	if got := w.trusted(t); !bytes.Equal(got, want) {
		t.Errorf("caBundle after it was wiped = %q, want the one before", got)
	}
}

func TestDeletedOrDamagedSecretFailsNoHandshake(t *testing.T) {
	t.Parallel()
	tests := map[string]func(*testing.T, client.Client, *corev1.Secret){
		"deleted": func(t *testing.T, c client.Client, secret *corev1.Secret) {
			if err := c.Delete(t.Context(), secret); err != nil {
				t.Fatal(err)
			}
		},
		"emptied": func(t *testing.T, c client.Client, secret *corev1.Secret) {
			secret.Data = nil
			if err := c.Update(t.Context(), secret); err != nil {
				t.Fatal(err)
			}
		},
		"key of another": func(t *testing.T, c client.Client, secret *corev1.Secret) {
			other, err := newPair([]string{"other"}, time.Now(), day)
			if err != nil {
				t.Fatal(err)
			}
			secret.Data[privateKey] = other.key
			if err := c.Update(t.Context(), secret); err != nil {
				t.Fatal(err)
			}
		},
	}
	for name, damage := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, registration())
			replicas := []replica{w.replica(t), w.replica(t)}
			for _, r := range replicas {
				r.step(t)
			}
			before := w.handshake(t, replicas[0], w.trusted(t))
			var secret corev1.Secret
			if err := w.client.Get(t.Context(), client.ObjectKey{Namespace: "penstock-system", Name: SecretName}, &secret); err != nil {
				t.Fatal(err)
			}
			damage(t, w.client, &secret)
			for range 4 {
				w.pass(pollEvery)
				for _, r := range replicas {
					late := w.trusted(t)
					r.step(t)
					for _, other := range replicas {
						w.handshake(t, other, late)
						w.handshake(t, other, w.trusted(t))
					}
				}
			}
			if after := w.handshake(t, replicas[0], w.trusted(t)); after.Equal(before) {
				t.Error("the lost certificate is still served, want a new one")
			}
		})
	}
}

func TestReplicasAgreeOnOnePair(t *testing.T) {
	t.Parallel()
	w := newWorld(t, registration())
	one, two := w.replica(t), w.replica(t)
	one.step(t)
	two.step(t)
	if !w.handshake(t, one, w.trusted(t)).Equal(w.handshake(t, two, w.trusted(t))) {
		t.Error("two replicas serve different certificates, want the first one's")
	}
}

func TestServesWithoutRegistrationAndIsNotReadyBefore(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	r := w.replica(t)
	if r.Ready(nil) == nil {
		t.Error("ready before there is a certificate")
	}
	r.step(t)
	if err := r.Ready(nil); err != nil {
		t.Errorf("not ready without a registration: %v", err)
	}
	if err := w.client.Create(t.Context(), registration()); err != nil {
		t.Fatal(err)
	}
	r.step(t)
	w.handshake(t, r, w.trusted(t))
}

func TestCertificateIsReplacedAfterItExpired(t *testing.T) {
	t.Parallel()
	w := newWorld(t, registration())
	w.replica(t).step(t)
	w.pass(200 * day)
	r := w.replica(t)
	r.step(t)
	w.handshake(t, r, w.trusted(t))
}

func TestAuthorityKeyIsNotKept(t *testing.T) {
	t.Parallel()
	w := newWorld(t, registration())
	w.replica(t).step(t)
	var secret corev1.Secret
	if err := w.client.Get(t.Context(), client.ObjectKey{Namespace: "penstock-system", Name: SecretName}, &secret); err != nil {
		t.Fatal(err)
	}
	if secret.Type != corev1.SecretTypeTLS {
		t.Errorf("secret type = %q, want %q", secret.Type, corev1.SecretTypeTLS)
	}
	for name, value := range secret.Data {
		if name != privateKey && bytes.Contains(value, []byte("PRIVATE KEY")) {
			t.Errorf("secret key %s holds a private key", name)
		}
	}
	if _, err := tls.X509KeyPair(secret.Data[authorityKey], secret.Data[privateKey]); err == nil {
		t.Error("the serving key is the authority's")
	}
}
