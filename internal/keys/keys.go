// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

// Package keys names every key and channel that Penstock uses in Redis, on one
// screen. All names begin with the store's key prefix, so several installations
// can share a Redis, and none is built anywhere else.
package keys

import "strings"

// DefaultPrefix is the key prefix of a store that names none.
const DefaultPrefix = "penstock"

// Prefix is a store's key prefix. Its methods build the key names.
type Prefix string

// Owner is the string key with the identity of the cluster that owns the prefix.
func (p Prefix) Owner() string { return string(p) + ":owner" }

// Rules is the hash with a namespace's published rule set.
// The channel of the same name announces each publication.
func (p Prefix) Rules(namespace string) string { return string(p) + ":rules:" + namespace }

// Acks is the hash, by pod uid, of what the sidecars of a namespace run.
// The channel of the same name announces each change.
func (p Prefix) Acks(namespace string) string { return string(p) + ":acks:" + namespace }

// Counter is the key of one limit's count for one identity. The identity is the
// hash tag: all limits of one identity share a Redis Cluster slot.
func (p Prefix) Counter(namespace, identity, limit string) string {
	return string(p) + ":n:" + namespace + ":{" + identity + "}:" + limit
}

// AllAcks is the pattern, for PSUBSCRIBE, of the channels of all namespaces' acks.
func (p Prefix) AllAcks() string {
	literal := strings.NewReplacer(`\`, `\\`, `*`, `\*`, `?`, `\?`, `[`, `\[`, `]`, `\]`).Replace(string(p))
	return literal + ":acks:*"
}

// NamespaceOfAcks is the namespace in a name that Acks built, and false for any
// other name.
func (p Prefix) NamespaceOfAcks(name string) (string, bool) {
	namespace, found := strings.CutPrefix(name, p.Acks(""))
	return namespace, found && namespace != ""
}
