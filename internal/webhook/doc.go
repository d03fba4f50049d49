// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

// Package webhook answers the API server's question what to change in a pod that
// is being created. The handler is thin: package inject decides, package
// certificate provides TLS, and whatever goes wrong here the pod is admitted,
// since a rate limiter must never keep a pod from running.
package webhook
