// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

// Package redisconn makes Redis clients from a store's settings. The settings
// travel as JSON in the Secret that every sidecar mounts, so operator, sidecar
// and the command line connect in the same way.
package redisconn

import "time"

// The modes of a store: one server, a master that sentinels name, or a cluster.
const (
	Standalone = "Standalone"
	Sentinel   = "Sentinel"
	Cluster    = "Cluster"
)

// Settings say how to reach a store. Zero values take the documented default.
type Settings struct {
	// Mode is Standalone, Sentinel or Cluster; absent is Standalone.
	Mode string `json:"mode,omitempty"`
	// Addresses are host:port pairs: exactly one with Standalone, which may be the
	// absolute path of a Unix socket instead; else the sentinels, or some nodes of
	// the cluster.
	Addresses []string `json:"addresses"`
	// MasterName is the name that the sentinels know the master by; with Sentinel
	// only.
	MasterName string `json:"masterName,omitempty"`
	// SentinelUsername and SentinelPassword are a user of the sentinels themselves.
	SentinelUsername string `json:"sentinelUsername,omitempty"`
	SentinelPassword string `json:"sentinelPassword,omitempty"`
	// Database is the number for SELECT; always 0 with Cluster.
	Database int    `json:"database,omitempty"`
	Username string `json:"username,omitempty"`
	Password string `json:"password,omitempty"`
	// KeyPrefix begins all key names; absent is keys.DefaultPrefix.
	KeyPrefix string `json:"keyPrefix,omitempty"`
	// OperationTimeout is the hard deadline of one decision; absent is 25 ms.
	OperationTimeout time.Duration `json:"operationTimeout,omitempty"`
	// DialTimeout bounds making a connection; absent is 250 ms.
	DialTimeout time.Duration `json:"dialTimeout,omitempty"`
	// TLS turns on TLS, for sentinels as well; nil connects in clear text.
	TLS *TLS `json:"tls,omitempty"`
}

// TLS is how a TLS connection to the store is verified, by either side.
type TLS struct {
	// CA are the PEM-encoded certificates to trust; empty trusts the system's.
	CA []byte `json:"ca,omitempty"`
	// ServerName is the name to verify; empty is the address's host.
	ServerName string `json:"serverName,omitempty"`
	// Certificate and Key are our own, PEM-encoded, for a store that asks its
	// clients for one; both empty is none.
	Certificate []byte `json:"certificate,omitempty"`
	Key         []byte `json:"key,omitempty"`
}
