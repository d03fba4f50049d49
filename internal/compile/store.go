// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package compile

import (
	"net"
	"regexp"
	"strconv"
	"time"

	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/penstock-dev/penstock/api/v1alpha1"
)

const (
	maxAddresses = 16
	maxDatabase  = 65535

	minTimeout   = time.Millisecond
	maxOperation = 10 * time.Second
	maxDial      = time.Minute
)

// keyPrefix is what may begin the names of keys: no colon, which parts them, no
// braces, which mark a hash tag, and nothing that a pattern of an ACL means
// otherwise.
var keyPrefix = regexp.MustCompile(`^[a-z0-9]([a-z0-9._-]{0,61}[a-z0-9])?$`)

// Store checks a store: what is not implemented and what is invalid, in that order.
func Store(store *v1alpha1.RateLimitStore) []v1alpha1.Problem {
	found := &findings{}
	found.add(unimplemented(kindStore, store)...)
	s := &store.Spec
	if oneOf(found, spec.Child("mode"), string(s.Mode), "", "Standalone", "Sentinel", "Cluster") {
		checkSentinel(s, found)
	}
	oneOf(found, spec.Child("isolation"), string(s.Isolation), "", "PerNamespace", "Shared")
	checkAddresses(s, found)
	checkDatabase(s, found)
	checkStoreUsers(s, found)
	checkStoreTLS(s.TLS, found)
	if s.KeyPrefix != "" && !keyPrefix.MatchString(s.KeyPrefix) {
		found.invalid(spec.Child("keyPrefix"), "%q cannot begin the names of keys: write at most 63 lower case letters, digits, dots, hyphens and underscores, with a letter or digit first and last", s.KeyPrefix)
	}
	if s.Timeouts != nil {
		checkTimeout(s.Timeouts.Operation, spec.Child("timeouts", "operation"), maxOperation, found)
		checkTimeout(s.Timeouts.Dial, spec.Child("timeouts", "dial"), maxDial, found)
	}
	return found.problems
}

func checkAddresses(s *v1alpha1.RateLimitStoreSpec, found *findings) {
	at := spec.Child("addresses")
	switch {
	case len(s.Addresses) == 0:
		found.invalid(at, "has no address: write the host and port of a Redis, such as redis.example.com:6379")
	case len(s.Addresses) > 1 && (s.Mode == "" || s.Mode == v1alpha1.StoreStandalone):
		found.invalid(at, "has %d addresses, but mode Standalone has exactly one: remove the others", len(s.Addresses))
	}
	atMost(found, at, len(s.Addresses), maxAddresses)
	for i, address := range s.Addresses {
		host, port, err := net.SplitHostPort(address)
		number, portErr := strconv.ParseUint(port, 10, 16)
		if err != nil || host == "" || portErr != nil || number == 0 {
			found.invalid(at.Index(i), "%q is not an address: write host:port, such as redis.example.com:6379 or [2001:db8::1]:6379", address)
		}
	}
}

func checkDatabase(s *v1alpha1.RateLimitStoreSpec, found *findings) {
	at := spec.Child("database")
	switch {
	case s.Database == nil:
	case *s.Database < 0 || *s.Database > maxDatabase:
		found.invalid(at, "is %d: write the number of a database, from 0 to %d", *s.Database, maxDatabase)
	case *s.Database > 0 && s.Mode == v1alpha1.StoreCluster:
		found.invalid(at, "is %d, but a Redis Cluster has only database 0: remove it", *s.Database)
	}
}

// checkSentinel keeps the operator's own user out of pods, too: sidecars ask the
// sentinels as well.
func checkSentinel(s *v1alpha1.RateLimitStoreSpec, found *findings) {
	at := spec.Child("sentinel")
	isSentinel := s.Mode == v1alpha1.StoreSentinel
	switch {
	case s.Sentinel == nil && isSentinel:
		found.invalid(at, "is missing, but mode Sentinel needs the master's name: write sentinel.masterName")
	case s.Sentinel == nil:
	case !isSentinel:
		found.invalid(at, "is read only with mode Sentinel: write mode: Sentinel, or remove it")
	case s.Sentinel.MasterName == "":
		found.invalid(at.Child("masterName"), "is empty: write the name that the sentinels know the master by")
	default:
		credentials := s.Sentinel.Credentials
		checkSecret(credentials, at.Child("credentials"), found)
		if credentials != nil && s.Credentials != nil && *credentials == *s.Credentials {
			found.invalid(at.Child("credentials"), "names the operator's own Secret, which must not reach a pod: name one with a user of the sentinels")
		}
	}
}

// checkStoreTLS keeps the operator's own key out of pods.
func checkStoreTLS(tls *v1alpha1.StoreTLS, found *findings) {
	if tls == nil {
		return
	}
	at := spec.Child("tls")
	own, sidecars := tls.ClientCertificateSecretRef, tls.SidecarCertificateSecretRef
	for _, named := range []struct {
		field  string
		secret *v1alpha1.SecretReference
	}{{"caSecretRef", tls.CASecretRef}, {"clientCertificateSecretRef", own}, {"sidecarCertificateSecretRef", sidecars}} {
		if named.secret != nil && named.secret.Name == "" {
			found.invalid(at.Child(named.field, "name"), "is empty: name a Secret in the operator's namespace")
		}
	}
	if own != nil && sidecars != nil && *own == *sidecars {
		found.invalid(at.Child("sidecarCertificateSecretRef"), "names the operator's own Secret, whose key must not reach a pod: name one with a certificate for the sidecars")
	}
}

// checkStoreUsers keeps the operator's own user out of pods.
func checkStoreUsers(s *v1alpha1.RateLimitStoreSpec, found *findings) {
	sidecars := spec.Child("sidecarCredentials")
	if s.Isolation == v1alpha1.IsolationShared && s.SidecarCredentials == nil {
		found.invalid(sidecars, "is missing, but isolation Shared needs it: name the Secret with the sidecars' own user")
	}
	checkSecret(s.Credentials, spec.Child("credentials"), found)
	checkSecret(s.SidecarCredentials, sidecars, found)
	if s.Credentials != nil && s.SidecarCredentials != nil && *s.Credentials == *s.SidecarCredentials {
		found.invalid(sidecars, "names the operator's own Secret, which must not reach a pod: name one with a user for the sidecars")
	}
}

func checkSecret(credentials *v1alpha1.Credentials, at *field.Path, found *findings) {
	if credentials != nil && credentials.SecretRef.Name == "" {
		found.invalid(at.Child("secretRef", "name"), "is empty: name a Secret in the operator's namespace")
	}
}

func checkTimeout(text v1alpha1.Duration, at *field.Path, longest time.Duration, found *findings) {
	if text == "" {
		return
	}
	timeout, err := parseDuration(text)
	switch {
	case err != nil:
		found.invalid(at, "%q %v", text, err)
	case timeout < minTimeout || timeout > longest:
		found.invalid(at, "is %s: write a duration from 1ms to %s", text, longest)
	}
}
