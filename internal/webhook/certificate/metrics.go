// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package certificate

import "github.com/prometheus/client_golang/prometheus"

// expirySeconds is for an alert on a rotation that does not happen.
var expirySeconds = prometheus.NewGauge(prometheus.GaugeOpts{
	Name: "penstock_webhook_certificate_expiry_seconds",
	Help: "Seconds until the webhook's serving certificate expires; it is replaced when a third of its life is left.",
})
