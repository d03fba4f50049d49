// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package api

var storeRules = []rule{
	{
		field:    "spec.addresses",
		message:  "a Standalone store has one address: leave one, or set mode to Sentinel or Cluster",
		accepted: change{"spec.mode": "Cluster", "spec.addresses": "[a:1, b:1]"},
		refused:  change{"spec.addresses": "[a:1, b:1]"},
	},
	{
		field:    "spec.addresses[0]",
		message:  "a port is a number from 1 to 65535: write host:port, such as redis.redis.svc:6379",
		accepted: change{"spec.addresses": "['[2001:db8::1]:65535']"},
		refused:  change{"spec.addresses": "[a:65536]"},
	},
	{
		field:    "spec.sentinel",
		message:  "mode Sentinel needs the master's name: set sentinel.masterName",
		accepted: change{"spec.mode": "Sentinel", "spec.sentinel": "{masterName: mymaster}"},
		refused:  change{"spec.mode": "Sentinel"},
	},
	{
		field:    "spec.sentinel",
		message:  "sentinel is read only with mode Sentinel: set mode: Sentinel, or remove sentinel",
		accepted: change{"spec.mode": "Standalone"},
		refused:  change{"spec.mode": "Cluster", "spec.sentinel": "{masterName: mymaster}"},
	},
	{
		field:    "spec.database",
		message:  "a Redis Cluster has only database 0: remove database",
		accepted: change{"spec.mode": "Cluster", "spec.database": "0"},
		refused:  change{"spec.mode": "Cluster", "spec.database": "1"},
	},
	{
		field:    "spec.sidecarCredentials",
		message:  "isolation Shared needs a user for the sidecars: set sidecarCredentials.secretRef.name",
		accepted: change{"spec.isolation": "Shared", "spec.sidecarCredentials": "{secretRef: {name: sidecar}}"},
		refused:  change{"spec.isolation": "Shared"},
	},
	{
		field:    "spec.sidecarCredentials",
		message:  "with isolation PerNamespace the operator makes the sidecars' users: remove sidecarCredentials, or set isolation: Shared",
		accepted: change{"spec.isolation": "PerNamespace"},
		refused:  change{"spec.sidecarCredentials": "{secretRef: {name: sidecar}}"},
	},
	{
		field:   "spec.sidecarCredentials",
		message: "the operator's own credentials never reach a pod: name another Secret, with a user for the sidecars",
		accepted: change{
			"spec.isolation":          "Shared",
			"spec.credentials":        "{secretRef: {name: operator}}",
			"spec.sidecarCredentials": "{secretRef: {name: sidecar}}",
		},
		refused: change{
			"spec.isolation":          "Shared",
			"spec.credentials":        "{secretRef: {name: redis}}",
			"spec.sidecarCredentials": "{secretRef: {name: redis}}",
		},
	},
	{
		field:   "spec.sentinel.credentials",
		message: "the operator's own credentials never reach a pod: name another Secret, with a user of the Sentinels",
		accepted: change{
			"spec.mode": "Sentinel", "spec.credentials": "{secretRef: {name: redis}}",
			"spec.sentinel": "{masterName: mymaster, credentials: {secretRef: {name: sentinel}}}",
		},
		refused: change{
			"spec.mode": "Sentinel", "spec.credentials": "{secretRef: {name: redis}}",
			"spec.sentinel": "{masterName: mymaster, credentials: {secretRef: {name: redis}}}",
		},
	},
	{
		field:    "spec.tls.sidecarCertificateSecretRef",
		message:  "the operator's own key never reaches a pod: name another Secret, with a certificate for the sidecars",
		accepted: change{"spec.tls": "{clientCertificateSecretRef: {name: operator}, sidecarCertificateSecretRef: {name: sidecar}}"},
		refused:  change{"spec.tls": "{clientCertificateSecretRef: {name: redis}, sidecarCertificateSecretRef: {name: redis}}"},
	},
	{
		field:    "spec.timeouts.operation",
		message:  "write a time from 1ms to 10s: requests wait as long as that",
		accepted: change{"spec.timeouts": "{operation: 10s}"},
		refused:  change{"spec.timeouts": "{operation: 10s1ms}"},
	},
	{
		field:    "spec.timeouts.dial",
		message:  "write a time from 1ms to 60s",
		accepted: change{"spec.timeouts": "{dial: 1m}"},
		refused:  change{"spec.timeouts": "{dial: 0s}"},
	},
}
