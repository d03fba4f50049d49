// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package compile

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/penstock-dev/penstock/api/v1alpha1"
)

func newStore(changes ...func(*v1alpha1.RateLimitStoreSpec)) *v1alpha1.RateLimitStore {
	store := &v1alpha1.RateLimitStore{Spec: v1alpha1.RateLimitStoreSpec{
		Addresses:          []string{"redis.redis.svc:6379"},
		Isolation:          v1alpha1.IsolationShared,
		SidecarCredentials: &v1alpha1.Credentials{SecretRef: v1alpha1.SecretReference{Name: "sidecars"}},
	}}
	for _, change := range changes {
		change(&store.Spec)
	}
	return store
}

func TestStore(t *testing.T) {
	t.Parallel()
	type spec = v1alpha1.RateLimitStoreSpec
	invalid, notImplemented := v1alpha1.ReasonInvalid, v1alpha1.ReasonNotImplemented
	tests := map[string]struct {
		change      func(*spec)
		wantField   string
		wantReason  string
		wantMessage string
	}{
		"as small as can be": {change: func(*spec) {}},
		"with everything that is enforced": {change: func(s *spec) {
			s.Mode, s.Database, s.KeyPrefix = v1alpha1.StoreStandalone, new(int32(2)), "limits.eu-1"
			s.Credentials = &v1alpha1.Credentials{SecretRef: v1alpha1.SecretReference{Name: "operator"}}
			s.TLS = &v1alpha1.StoreTLS{CASecretRef: &v1alpha1.SecretReference{Name: "ca"}, ServerName: "redis"}
			s.Timeouts = &v1alpha1.StoreTimeouts{Operation: "50ms", Dial: "1s"}
			s.Addresses = []string{"[2001:db8::1]:6379"}
		}},
		"sentinels": {change: func(s *spec) {
			s.Mode, s.Addresses = v1alpha1.StoreSentinel, []string{"a:26379", "b:26379"}
			s.Credentials = &v1alpha1.Credentials{SecretRef: v1alpha1.SecretReference{Name: "operator"}}
			s.Sentinel = &v1alpha1.Sentinel{MasterName: "main", Credentials: &v1alpha1.Credentials{SecretRef: v1alpha1.SecretReference{Name: "watch"}}}
		}},
		"Sentinel without a master": {func(s *spec) { s.Mode = v1alpha1.StoreSentinel }, "spec.sentinel", invalid, "sentinel.masterName"},
		"Sentinel with an empty name": {
			func(s *spec) { s.Mode, s.Sentinel = v1alpha1.StoreSentinel, &v1alpha1.Sentinel{} }, "spec.sentinel.masterName", invalid, "is empty",
		},
		"sentinels of a server": {
			func(s *spec) { s.Sentinel = &v1alpha1.Sentinel{MasterName: "main"} }, "spec.sentinel", invalid, "only with mode Sentinel",
		},
		"sentinels with the operator's user": {func(s *spec) {
			s.Mode, s.Credentials = v1alpha1.StoreSentinel, &v1alpha1.Credentials{SecretRef: v1alpha1.SecretReference{Name: "operator"}}
			s.Sentinel = &v1alpha1.Sentinel{MasterName: "main", Credentials: s.Credentials}
		}, "spec.sentinel.credentials", invalid, "must not reach a pod"},
		"cluster": {change: func(s *spec) { s.Mode, s.Addresses = v1alpha1.StoreCluster, []string{"a:6379", "b:6379"} }},
		"cluster with a database": {
			func(s *spec) { s.Mode, s.Database = v1alpha1.StoreCluster, new(int32(1)) }, "spec.database", invalid, "only database 0",
		},
		"certificates": {change: func(s *spec) {
			s.TLS = &v1alpha1.StoreTLS{
				ClientCertificateSecretRef: &v1alpha1.SecretReference{Name: "a"}, SidecarCertificateSecretRef: &v1alpha1.SecretReference{Name: "b"},
			}
		}},
		"one certificate for both": {func(s *spec) {
			own := &v1alpha1.SecretReference{Name: "a"}
			s.TLS = &v1alpha1.StoreTLS{ClientCertificateSecretRef: own, SidecarCertificateSecretRef: own}
		}, "spec.tls.sidecarCertificateSecretRef", invalid, "must not reach a pod"},
		"certificate without a name": {
			func(s *spec) { s.TLS = &v1alpha1.StoreTLS{SidecarCertificateSecretRef: &v1alpha1.SecretReference{}} },
			"spec.tls.sidecarCertificateSecretRef.name", invalid, "name a Secret",
		},
		"isolation absent":       {func(s *spec) { s.Isolation = "" }, "spec.isolation", notImplemented, "write Shared"},
		"isolation PerNamespace": {func(s *spec) { s.Isolation = "PerNamespace" }, "spec.isolation", notImplemented, "write Shared"},
		"isolation unknown":      {func(s *spec) { s.Isolation = "None" }, "spec.isolation", invalid, "PerNamespace, Shared"},
		"mode unknown":           {func(s *spec) { s.Mode = "Ring" }, "spec.mode", invalid, "Standalone"},
		"no address":             {func(s *spec) { s.Addresses = nil }, "spec.addresses", invalid, "host and port"},
		"two addresses":          {func(s *spec) { s.Addresses = []string{"a:1", "b:1"} }, "spec.addresses", invalid, "exactly one"},
		"no port":                {func(s *spec) { s.Addresses = []string{"redis"} }, "spec.addresses[0]", invalid, "host:port"},
		"port too high":          {func(s *spec) { s.Addresses = []string{"redis:65536"} }, "spec.addresses[0]", invalid, "host:port"},
		"database below 0":       {func(s *spec) { s.Database = new(int32(-1)) }, "spec.database", invalid, "from 0"},
		"prefix with a colon":    {func(s *spec) { s.KeyPrefix = "a:b" }, "spec.keyPrefix", invalid, "lower case"},
		"Shared without a user":  {func(s *spec) { s.SidecarCredentials = nil }, "spec.sidecarCredentials", invalid, "name the Secret"},
		"one user for both":      {func(s *spec) { s.Credentials = s.SidecarCredentials }, "spec.sidecarCredentials", invalid, "must not reach a pod"},
		"secret without a name": {
			func(s *spec) { s.Credentials = &v1alpha1.Credentials{} }, "spec.credentials.secretRef.name", invalid, "name a Secret",
		},
		"CA without a name": {
			func(s *spec) { s.TLS = &v1alpha1.StoreTLS{CASecretRef: &v1alpha1.SecretReference{}} },
			"spec.tls.caSecretRef.name", invalid, "name a Secret",
		},
		"timeout of no form": {
			func(s *spec) { s.Timeouts = &v1alpha1.StoreTimeouts{Operation: "25"} }, "spec.timeouts.operation", invalid, "such as 1m30s",
		},
		"timeout too long": {
			func(s *spec) { s.Timeouts = &v1alpha1.StoreTimeouts{Dial: "61s"} }, "spec.timeouts.dial", invalid, "from 1ms to 1m0s",
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			problems := Store(newStore(tc.change))
			if tc.wantField == "" {
				if diff := cmp.Diff([]v1alpha1.Problem(nil), problems); diff != "" {
					t.Errorf("problems (-want +got):\n%s", diff)
				}
				return
			}
			for _, problem := range problems {
				if problem.Field == tc.wantField && problem.Reason == tc.wantReason && strings.Contains(problem.Message, tc.wantMessage) {
					return
				}
			}
			t.Errorf("problems %+v, want %s %s with %q", problems, tc.wantReason, tc.wantField, tc.wantMessage)
		})
	}
}

func TestClusterPolicyIsNotImplemented(t *testing.T) {
	t.Parallel()
	problems := ClusterPolicy(&v1alpha1.ClusterRateLimitPolicy{})
	if len(problems) != 1 || problems[0].Field != "spec" || problems[0].Reason != v1alpha1.ReasonNotImplemented {
		t.Errorf("problems %+v, want one of spec with reason NotImplemented", problems)
	}
}
