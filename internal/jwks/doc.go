// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

// Package jwks fetches the keys of issuers of tokens and keeps them fresh, in the
// background: who asks for keys gets those that are there. The sidecar and penstock
// run give it to internal/match.
package jwks
