// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package proxy

import "github.com/prometheus/client_golang/prometheus"

// WatchKeyFetchesFailed adds how many fetches of the keys of issuers failed. The
// number must not fall.
func (m *Metrics) WatchKeyFetchesFailed(failed func() int64) error {
	return m.Registry.Register(prometheus.NewCounterFunc(prometheus.CounterOpts{
		Name: "penstock_jwks_fetch_failures_total", Help: "Fetches of the keys of issuers of tokens that failed. Keys of before are used for a day.",
	}, func() float64 { return float64(failed()) }))
}

// WatchKeyURLsIgnored adds how many addresses of keys are not fetched now.
func (m *Metrics) WatchKeyURLsIgnored(ignored func() int64) error {
	return m.Registry.Register(prometheus.NewGaugeFunc(prometheus.GaugeOpts{
		Name: "penstock_jwks_urls_ignored", Help: "Addresses of the keys of issuers of tokens (jwks.url) that are not fetched, since the policies name too many. Tokens of these issuers are not verified.",
	}, func() float64 { return float64(ignored()) }))
}
