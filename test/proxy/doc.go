// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

// Package proxy proves the request path through the built programs: real sockets,
// real clients and servers, and nothing of the product's code in between.
package proxy
