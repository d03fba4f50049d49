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
	oneOf(found, spec.Child("mode"), string(s.Mode), "", "Standalone", "Sentinel", "Cluster")
	oneOf(found, spec.Child("isolation"), string(s.Isolation), "", "PerNamespace", "Shared")
	checkAddresses(s, found)
	if s.Database != nil && (*s.Database < 0 || *s.Database > maxDatabase) {
		found.invalid(spec.Child("database"), "is %d: write the number of a database, from 0 to %d", *s.Database, maxDatabase)
	}
	checkStoreUsers(s, found)
	if s.TLS != nil && s.TLS.CASecretRef != nil && s.TLS.CASecretRef.Name == "" {
		found.invalid(spec.Child("tls", "caSecretRef", "name"), "is empty: name a Secret in the operator's namespace")
	}
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
