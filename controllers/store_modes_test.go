// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package controllers_test

import (
	"bytes"
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/penstock-dev/penstock/api/v1alpha1"
	"github.com/penstock-dev/penstock/internal/keys"
	"github.com/penstock-dev/penstock/internal/redisconn"
	"github.com/penstock-dev/penstock/internal/store"
	"github.com/penstock-dev/penstock/test/redistest"
)

// operatorSecret makes a Secret where stores' Secrets are looked for.
func (s *scene) operatorSecret(name string, kind corev1.SecretType, data map[string][]byte) *v1alpha1.SecretReference {
	s.t.Helper()
	name = s.namespace + "-" + name
	create(s.t, s.client, &corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{Namespace: operatorNamespace, Name: name}, Type: kind, Data: data,
	})
	return &v1alpha1.SecretReference{Name: name}
}

// sidecarSettings is what sidecars are told of the store, empty before they are.
func (s *scene) sidecarSettings() redisconn.Settings {
	s.t.Helper()
	settings := redisconn.Settings{}
	secret := s.secret()
	if secret == nil {
		return settings
	}
	if err := json.Unmarshal(secret.Data["store.json"], &settings); err != nil {
		s.t.Fatal(err)
	}
	return settings
}

// reads says that settings are of use: sidecars find the namespace's rules with them.
func (s *scene) reads(settings redisconn.Settings) error {
	opened, err := store.Open(settings)
	if err != nil {
		return err
	}
	defer opened.Close()
	_, err = opened.Load(s.t.Context(), s.namespace)
	return err
}

func TestAStoreThatAsksForCertificates(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	asking := redistest.Start(t, redistest.WithClientCertificates(), redistest.WithUsers(storeUsers...))
	pair := func(name string) (*v1alpha1.SecretReference, []byte) {
		certificate, key := asking.ClientCertificate(t, name)
		return s.operatorSecret(name, corev1.SecretTypeTLS, map[string][]byte{"tls.crt": certificate, "tls.key": key}), key
	}
	own, ownKey := pair("operator-tls")
	theirs, theirKey := pair("sidecar-tls")
	ca := s.operatorSecret("ca", corev1.SecretTypeOpaque, map[string][]byte{"ca.crt": asking.CA()})
	s.editStore(func(spec *v1alpha1.RateLimitStoreSpec) {
		spec.Addresses = []string{asking.Addr()}
		spec.TLS = &v1alpha1.StoreTLS{
			CASecretRef: ca, ServerName: asking.ServerName(), ClientCertificateSecretRef: own, SidecarCertificateSecretRef: theirs,
		}
	})
	there := store.New(asking.Client(t), keys.DefaultPrefix)
	eventually(t, "rules in the store", func() bool {
		published, err := there.Load(t.Context(), s.namespace)
		return err == nil && published.Sequence > 0
	}, true)
	eventually(t, "address for sidecars", func() []string { return s.sidecarSettings().Addresses }, []string{asking.Addr()})
	settings := s.sidecarSettings()
	if !bytes.Equal(settings.TLS.Key, theirKey) {
		t.Error("the sidecars' key is not in their Secret")
	}
	if err := s.reads(settings); err != nil {
		t.Errorf("read the store as a sidecar: %v", err)
	}
	secret, err := json.Marshal(settings.TLS)
	if err != nil {
		t.Fatal(err)
	}
	operators, err := json.Marshal(ownKey)
	if err != nil {
		t.Fatal(err)
	}
	if bytes.Contains(secret, bytes.Trim(operators, `"`)) {
		t.Error("the operator's key reached the sidecars' Secret")
	}
	s.editStore(func(spec *v1alpha1.RateLimitStoreSpec) { spec.TLS.SidecarCertificateSecretRef = ca })
	eventually(t, "store whose sidecars have no certificate", s.connected, "False/CredentialsRefused")
}

func TestAStoreBehindSentinels(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	watched := redistest.StartSentinel(t, redistest.WithPassword("watchword"))
	for _, server := range []*redistest.Server{watched.Master, watched.Replica} {
		for _, user := range []string{"operator", "sidecars"} {
			password := map[string]string{"operator": "operator-secret", "sidecars": "sidecar-secret"}[user]
			if err := server.Client(t).ACLSetUser(t.Context(), user, "on", ">"+password, "~penstock:*", "&penstock:*", "+@all").Err(); err != nil {
				t.Fatal(err)
			}
		}
	}
	sentinels := s.operatorSecret("sentinel", corev1.SecretTypeOpaque, map[string][]byte{"password": []byte("watchword")})
	s.editStore(func(spec *v1alpha1.RateLimitStoreSpec) {
		spec.Mode, spec.Addresses = v1alpha1.StoreSentinel, watched.Addrs()
		spec.Sentinel = &v1alpha1.Sentinel{MasterName: watched.MasterName(), Credentials: &v1alpha1.Credentials{SecretRef: *sentinels}}
	})
	there := store.New(watched.Master.Client(t), keys.DefaultPrefix)
	eventually(t, "rules in the store", func() bool {
		published, err := there.Load(t.Context(), s.namespace)
		return err == nil && published.Sequence > 0
	}, true)
	eventually(t, "mode for sidecars", func() string { return s.sidecarSettings().Mode }, redisconn.Sentinel)
	want := redisconn.Settings{
		Mode: redisconn.Sentinel, Addresses: watched.Addrs(), MasterName: watched.MasterName(), SentinelPassword: "watchword",
		Username: "sidecars", Password: "sidecar-secret",
	}
	settings := s.sidecarSettings()
	if diff := cmp.Diff(want, settings); diff != "" {
		t.Errorf("settings of sidecars (-want +got):\n%s", diff)
	}
	if err := s.reads(settings); err != nil {
		t.Errorf("read the store as a sidecar: %v", err)
	}
	eventually(t, "store", s.connected, "True/Connected")
}
