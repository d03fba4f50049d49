// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

// Package certificate makes the certificates of the operator's webhook and rotates
// them, so that an installation needs no other program for that. They stand in a
// Secret of the operator's namespace; every replica serves them from memory, and
// keeps the caBundle of the webhook's registration in step.
//
// A certificate and the authority that signed it are made together, and the
// authority's key is thrown away at once: nothing else can ever be signed with it.
// A new pair is trusted before it is served, and the old authority stays trusted
// until it expires, so no handshake fails whatever replica or API server is late.
package certificate
