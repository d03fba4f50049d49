// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

// Package v1alpha1 is what people write: rate limits for the pods of a namespace
// (RateLimitPolicy) or of many (ClusterRateLimitPolicy), and the Redis in which
// they are counted (RateLimitStore). No field is defaulted by the API server:
// an absent field means the documented default, and status.effective shows it.
//
// +kubebuilder:object:generate=true
// +groupName=ratelimit.penstock.dev
package v1alpha1
