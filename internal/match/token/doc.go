// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

// Package token verifies JSON Web Tokens (RFC 7519) in compact form: a token goes
// in with the keys of its issuer, and its claims come out, or the reason why they
// are not believed. It is pure: keys and the time are given to it. internal/match
// asks it for claims, internal/compile and internal/jwks have it read key sets.
package token
