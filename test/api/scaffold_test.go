// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package api

import "strings"

// scaffold is what an object needs around the field at a path: that of the longest
// prefix in scaffolds.
func scaffold(path string) change {
	var longest string
	for prefix := range scaffolds {
		rest, within := strings.CutPrefix(path, prefix)
		if within && (rest == "" || rest[0] == '.' || rest[0] == '[') && len(prefix) > len(longest) {
			longest = prefix
		}
	}
	return scaffolds[longest]
}

// scaffolds make the fields within a path possible.
var scaffolds = map[string]change{
	"spec.targetRefs": {
		"spec.selector":   "",
		"spec.targetRefs": "[{group: '', kind: Service, name: web, sectionName: http}]",
	},
	"spec.targetRefs[0].kind": {
		"spec.selector":   "",
		"spec.targetRefs": "[{group: apps, kind: Deployment, name: web}]",
	},
	"spec.clientIP":        {"spec.clientIP": "{source: Header, headerName: X-Real-IP, trustedHops: 1, trustedCIDRs: [10.0.0.0/8]}"},
	"spec.clientIP.source": {"spec.clientIP": "{}"},
	"spec.jwt": {"spec.jwt": `{providers: [{name: idp, issuer: i, audiences: [shop],
		jwks: {url: "https://id.example.com/jwks"}, from: [{header: {name: Authorization}}]}]}`},
	"spec.jwt.providers[0].jwks.inline": {"spec.jwt": "{providers: [{name: idp, issuer: i, jwks: {}}]}"},
	"spec.exempt": {"spec.exempt": `{cidrs: [10.0.0.0/8], paths: [{type: Exact, value: /healthz}],
		headers: [{name: X-Token, sha256: "` + letters(64) + `"}], when: ["true"]}`},
	"spec.response": {"spec.response": "{headers: [RateLimit]}"},

	"spec.rules[0].scope": {
		"spec.selector":   "",
		"spec.targetRefs": "[{group: apps, kind: Deployment, name: web}]",
	},
	"spec.rules[0].matches": {"spec.rules[0].matches": `[{path: {value: /}, methods: [GET], hosts: [a],
		headers: [{name: a, value: b}], queryParams: [{name: a, value: b}]}]`},
	"spec.rules[0].matches[0].headers[0].type":       {"spec.rules[0].matches": "[{headers: [{name: a, value: b}]}]"},
	"spec.rules[0].when":                             {"spec.rules[0].when": `["true"]`},
	"spec.rules[0].key":                              {"spec.rules[0].key": "[{name: client, from: [{clientIP: {}}]}]"},
	"spec.rules[0].key[0].from[0].header":            keyFrom("header: {name: X-API-Key}"),
	"spec.rules[0].key[0].from[0].jwtClaim":          claimFrom("name: sub", "idp", "a", "a-1", "1a"),
	"spec.rules[0].key[0].from[0].jwtClaim.provider": claimFrom("name: sub", "a", "a-1", "1a", letters(63)),
	"spec.rules[0].key[0].from[0].cookie":            keyFrom("cookie: {name: session}"),
	"spec.rules[0].key[0].from[0].queryParam":        keyFrom("queryParam: {name: q}"),
	"spec.rules[0].key[0].from[0].pathParam":         keyFrom("pathParam: {name: id}"),
	"spec.rules[0].key[0].from[0].expression":        keyFrom("expression: request.method"),
	"spec.rules[0].limits[0].burst":                  {"spec.rules[0].limits": "[{name: limit, requests: 10, window: 1s}]"},
	"spec.rules[0].limits[0].algorithm":              {"spec.rules[0].limits": "[{name: limit, requests: 10, window: 1s}]"},
	"spec.rules[0].limits[0].calendar":               {"spec.rules[0].limits": "[{name: limit, requests: 10, calendar: {period: Day}}]"},
	"spec.rules[0].tiers":                            {"spec.rules[0].tiers": `[{name: pro, when: "true", limits: [{name: limit, requests: 1, window: 1s}]}]`},
	"spec.rules[0].cost": {"spec.rules[0].cost": `{request: {value: 1}, response: {header: X-Cost},
		countOn: {statusCodes: ["401"]}}`},
	"spec.rules[0].cost.request.value": {
		"spec.rules[0].cost":   "{request: {value: 1}}",
		"spec.rules[0].limits": "[{name: limit, requests: 2147483648, window: 1h}]",
	},
	"spec.rules[0].cost.request.header":     {"spec.rules[0].cost": "{request: {header: {name: X-Cost}}}"},
	"spec.rules[0].cost.request.queryParam": {"spec.rules[0].cost": "{request: {queryParam: {name: q}}}"},
	"spec.rules[0].cost.request.expression": {"spec.rules[0].cost": "{request: {expression: 1 + 1}}"},
	"spec.rules[0].cost.request.max":        {"spec.rules[0].cost": "{request: {header: {name: X-Cost}}}"},
	"spec.rules[0].response":                {"spec.rules[0].response": `{body: {contentType: a/b, value: "{}"}}`},

	"spec.mode":      {},
	"spec.addresses": {},
	"spec.sentinel": {
		"spec.mode":     "Sentinel",
		"spec.sentinel": "{masterName: mymaster, credentials: {secretRef: {name: sentinel}}}",
	},
	"spec.credentials": {"spec.credentials": "{secretRef: {name: operator}}"},
	"spec.sidecarCredentials": {
		"spec.isolation":          "Shared",
		"spec.sidecarCredentials": "{secretRef: {name: sidecar}}",
	},
	"spec.tls": {"spec.tls": `{caSecretRef: {name: ca}, clientCertificateSecretRef: {name: operator},
		sidecarCertificateSecretRef: {name: sidecar}}`},
}

// claimFrom has a claim as the key, and providers of these names.
func claimFrom(claim string, providers ...string) change {
	var entries []string
	for _, name := range providers {
		entries = append(entries, "{name: "+name+", issuer: i, jwks: {url: 'https://a'}}")
	}
	with := keyFrom("jwtClaim: {" + claim + "}")
	with["spec.jwt"] = "{providers: [" + strings.Join(entries, ", ") + "]}"
	return with
}

func keyFrom(source string) change {
	return change{"spec.rules[0].key": "[{name: client, from: [{" + source + "}]}]"}
}
