// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package api

import (
	"slices"
	"strconv"
	"strings"
)

// storeBounds are the bounds of RateLimitStore.
var storeBounds = slices.Concat([]bound{
	choice("spec.mode", "Standalone Sentinel Cluster", "Standalone Cluster"),
	{
		path:     "spec.addresses",
		keywords: []string{"minItems=1", "maxItems=16", "listType=atomic"},
		accepted: []string{"[a:1]"},
		refused: []refusal{
			{"[]", "should have at least 1 items"},
			{"[" + strings.Repeat("a:1, ", 16) + "a:1]", "must have at most 16 items"},
		},
	},
	text("spec.addresses[0]", 3, 259, after("", ":1")).pattern(
		[]string{"redis-0.redis.svc:6379", "10.0.0.1:65535", "[2001:db8::1]:6379"},
		[]string{"redis", "redis:", "redis:0", "redis://redis:6379", "2001:db8::1:6379", "redis:123456", "a b:1"}),
	text("spec.sentinel.masterName", 1, 63, letters).pattern([]string{"my_Master-1.a"}, []string{"a b", "a:b"}),
	objectName("spec.sentinel.credentials.secretRef.name"),
	number("spec.database", 0, 65535),
	objectName("spec.credentials.secretRef.name"),
	objectName("spec.sidecarCredentials.secretRef.name"),
	objectName("spec.tls.caSecretRef.name"),
	objectName("spec.tls.clientCertificateSecretRef.name"),
	objectName("spec.tls.sidecarCertificateSecretRef.name"),
	text("spec.tls.serverName", 1, 253, letters).pattern([]string{"redis.example.com"}, []string{"a:1", "a/b", "-a"}),
	text("spec.keyPrefix", 1, 63, letters).pattern([]string{"penstock-eu_1.a"}, []string{"a:b", "a*", "{a}", "A", "a b"}),
	length("spec.timeouts.operation", "1ms", "25ms", "10s"),
	length("spec.timeouts.dial", "1ms", "250ms", "60s"),
	choice("spec.isolation", "PerNamespace Shared", "PerNamespace"),
},
	required("spec", "addresses"),
	required("spec.sentinel", "masterName"),
	required("spec.sentinel.credentials", "secretRef"),
	required("spec.sentinel.credentials.secretRef", "name"),
	required("spec.credentials", "secretRef"),
	required("spec.credentials.secretRef", "name"),
	required("spec.sidecarCredentials", "secretRef"),
	required("spec.sidecarCredentials.secretRef", "name"),
	required("spec.tls.caSecretRef", "name"),
	required("spec.tls.clientCertificateSecretRef", "name"),
	required("spec.tls.sidecarCertificateSecretRef", "name"),
)

// objectName is the name of an object of Kubernetes.
func objectName(path string) bound {
	return text(path, 1, 253, letters).pattern([]string{"web", "a.b-1"}, []string{"Web", "-a", "a.", "a_b", "a/b"})
}

// anyName is a name without white space.
func anyName(path string) bound {
	return text(path, 1, 63, letters).pattern([]string{"filter[x]", "ä"}, []string{"a b", "a\n"})
}

// addressRange is a CIDR; that it is one says a rule.
func addressRange(path string) bound {
	return bound{
		path:     path,
		keywords: []string{"minLength=1", "maxLength=63"},
		accepted: []string{"192.0.2.7/32", `"2001:db8::/32"`, `"::/0"`},
		refused:  []refusal{{`""`, "should be at least 1 chars long"}, {letters(64), "may not be more than 63"}},
	}
}

// length is a length of time.
func length(path string, good ...string) bound {
	b := bound{path: path, keywords: []string{"minLength=1", "maxLength=32"}, refused: []refusal{
		{`""`, "should be at least 1 chars long"},
		{letters(33), "may not be more than 32"},
	}}
	return b.pattern(good, []string{"1", "1d", "1.5s", "-1s", "1us", "1m 30s", "s", "100000s", "1s1s1s1s1s"})
}

// pathBounds are those of a path to match.
func pathBounds(path string) []bound {
	return append(required(path, "value"),
		choice(path+".type", "Exact PathPrefix Template RegularExpression", "Exact PathPrefix Template RegularExpression"),
		text(path+".value", 1, 512, after("/", "")))
}

func valueType(path string) bound {
	return choice(path, "Exact RegularExpression Present Absent", "Exact RegularExpression")
}

// value is what a header or parameter must be; how long one may be that is no
// regular expression says a rule.
func value(path string) bound {
	return bound{
		path:     path,
		keywords: []string{"minLength=1", "maxLength=512"},
		accepted: []string{"a", letters(256)},
		refused:  []refusal{{`""`, "should be at least 1 chars long"}, {letters(513), "may not be more than 512"}},
	}
}

// element makes elements of a list that differ in a number, written as #.
func element(text string) func(int) string {
	return func(i int) string { return strings.ReplaceAll(text, "#", strconv.Itoa(i)) }
}
