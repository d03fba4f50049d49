// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

// Package redisconn makes Redis clients from a store's settings. The settings
// travel as JSON in the Secret that every sidecar mounts, so operator, sidecar
// and the command line connect in the same way.
package redisconn

import "time"

// Settings say how to reach a store. Zero values take the documented default.
type Settings struct {
	// Mode is Standalone. Others are not enforced yet.
	Mode string `json:"mode,omitempty"`
	// Addresses are host:port pairs; Standalone has exactly one.
	Addresses []string `json:"addresses"`
	// Database is the number for SELECT.
	Database int    `json:"database,omitempty"`
	Username string `json:"username,omitempty"`
	Password string `json:"password,omitempty"`
	// KeyPrefix begins all key names; absent is keys.DefaultPrefix.
	KeyPrefix string `json:"keyPrefix,omitempty"`
	// OperationTimeout is the hard deadline of one decision; absent is 25 ms.
	OperationTimeout time.Duration `json:"operationTimeout,omitempty"`
	// DialTimeout bounds making a connection; absent is 250 ms.
	DialTimeout time.Duration `json:"dialTimeout,omitempty"`
	// TLS turns on TLS; nil connects in clear text.
	TLS *TLS `json:"tls,omitempty"`
}

// TLS is how a TLS connection to the store is verified.
type TLS struct {
	// CA are the PEM-encoded certificates to trust; empty trusts the system's.
	CA []byte `json:"ca,omitempty"`
	// ServerName is the name to verify; empty is the address's host.
	ServerName string `json:"serverName,omitempty"`
}
