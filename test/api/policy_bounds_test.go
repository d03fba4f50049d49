// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package api

import (
	"fmt"
	"slices"
	"strings"
)

// policyBounds are the bounds of RateLimitPolicy.
var policyBounds = slices.Concat(
	targetBounds, clientIPBounds, jwtBounds, exemptBounds, responseBounds,
	ruleBounds, matchBounds, keyBounds, limitBounds, costBounds,
	required("spec", "rules"),
	[]bound{
		choice("spec.mode", "Enforce Shadow Disabled", "Enforce Shadow Disabled"),
		choice("spec.pathMatching", "Loose Strict", "Loose Strict"),
		choice("spec.evaluation", "All FirstMatch", "All FirstMatch"),
		named("spec.rules", 64, "matches: [{path: {type: Exact, value: /#}}], limits: [{name: limit, requests: 10, window: 1m}]"),
	},
)

var targetBounds = append([]bound{
	list("spec.targetRefs", 16, element("{group: apps, kind: Deployment, name: web#}")),
	{
		path:     "spec.targetRefs[0].group",
		keywords: []string{`enum=""`, `enum="apps"`},
		accepted: []string{`""`},
		refused:  []refusal{{"v1", "supported values"}},
	},
	choice("spec.targetRefs[0].kind", "Deployment StatefulSet DaemonSet Service", "Deployment StatefulSet DaemonSet"),
	objectName("spec.targetRefs[0].name"),
	label("spec.targetRefs[0].sectionName"),
}, required("spec.targetRefs[0]", "group", "kind", "name")...)

var clientIPBounds = []bound{
	choice("spec.clientIP.source", "Peer XForwardedFor Header", "Peer"),
	headerName("spec.clientIP.headerName"),
	number("spec.clientIP.trustedHops", 1, 32),
	list("spec.clientIP.trustedCIDRs", 32, element("10.#.0.0/16")),
	addressRange("spec.clientIP.trustedCIDRs[0]"),
	number("spec.clientIP.ipv6PrefixLength", 1, 128),
}

// keySet is a set with one public key, that of RFC 8037, appendix A.2.
const keySet = `{"keys":[{"kty":"OKP","crv":"Ed25519","x":"11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo"}]}`

var jwtBounds = slices.Concat([]bound{
	named("spec.jwt.providers", 4, "issuer: i, jwks: {url: 'https://a'}"),
	label("spec.jwt.providers[0].name"),
	text("spec.jwt.providers[0].issuer", 1, 256, letters),
	list("spec.jwt.providers[0].audiences", 8, element("a#")),
	text("spec.jwt.providers[0].audiences[0]", 1, 256, letters),
	text("spec.jwt.providers[0].jwks.url", 9, 512, after("https://", "")).pattern(
		[]string{"https://id.example.com:8443/jwks?v=1"},
		[]string{"http://id.example.com/jwks", "https:///jwks", "https://a /jwks", "https://a/jwks#b"}),
	text("spec.jwt.providers[0].jwks.inline", 2, 32768, letters).operatorIsStricter(keySet),
	oneField("spec.jwt.providers[0].jwks", "{url: 'https://a', inline: '"+keySet+"'}"),
	list("spec.jwt.providers[0].from", 4, element("{header: {name: X-#}}")),
	oneField("spec.jwt.providers[0].from[0]", ""),
	headerName("spec.jwt.providers[0].from[0].header.name"),
},
	required("spec.jwt", "providers"),
	required("spec.jwt.providers[0]", "name", "issuer", "jwks"),
	required("spec.jwt.providers[0].from[0].header", "name"),
)

var exemptBounds = slices.Concat([]bound{
	someField("spec.exempt"),
	list("spec.exempt.cidrs", 256, element("10.0.#.0/24")),
	addressRange("spec.exempt.cidrs[0]"),
	list("spec.exempt.paths", 32, element("{value: /#}")),
	list("spec.exempt.headers", 32, element("{name: X-#, sha256: '"+letters(64)+"'}")),
	headerName("spec.exempt.headers[0].name"),
	text("spec.exempt.headers[0].sha256", 64, 64, letters).pattern(
		nil, []string{strings.Repeat("A", 64), strings.Repeat("g", 64)}),
	list("spec.exempt.when", 32, element("request.method!='#'")),
	expression("spec.exempt.when[0]", "true"),
},
	pathBounds("spec.exempt.paths[0]"),
	required("spec.exempt.headers[0]", "name", "sha256"),
)

var responseBounds = []bound{
	{
		path:     "spec.response.headers",
		keywords: []string{"minItems=1", "maxItems=4", "listType=atomic"},
		accepted: []string{"[None]", "[RateLimit, XRateLimit, Draft03]"},
		refused: []refusal{
			{"[]", "should have at least 1 items"},
			{"[RateLimit, XRateLimit, Draft03, None, None]", "must have at most 4 items"},
		},
	},
	choice("spec.response.headers[0]", "RateLimit XRateLimit Draft03 None", "RateLimit XRateLimit Draft03 None"),
	choice("spec.response.onAllowed", "Include Omit", "Include Omit"),
	choice("spec.response.cors", "None Echo", "None Echo"),
}

var ruleBounds = slices.Concat([]bound{
	label("spec.rules[0].name"),
	list("spec.rules[0].matches", 8, element("{methods: [A#]}")),
	list("spec.rules[0].when", 8, element("request.method!='#'")),
	expression("spec.rules[0].when[0]", "true"),
	named("spec.rules[0].key", 4, "from: [{clientIP: {}}]"),
	named("spec.rules[0].limits", 8, "requests: 1, window: 1s"),
	named("spec.rules[0].tiers", 8, "when: 'true', unlimited: {}"),
	label("spec.rules[0].tiers[0].name"),
	expression("spec.rules[0].tiers[0].when", "true"),
	choice("spec.rules[0].mode", "Enforce Shadow Disabled", "Enforce Shadow Disabled"),
	number("spec.rules[0].enforcePercent", 0, 100),
	choice("spec.rules[0].scope", "Policy Target Pod", "Policy Target Pod"),
	choice("spec.rules[0].precision", "Exact Leased", "Exact Leased"),
	choice("spec.rules[0].onStoreFailure", "Local Allow Deny", "Local Allow Deny"),
	text("spec.rules[0].local.looseness", 1, 7, func(n int) string { return "111.1111"[:n] }).pattern(
		[]string{"1.5", "0.001", "999.999"}, []string{"1,5", "-1", ".5", "1.", "1.2345", "1e3", "1234"}),
	number("spec.rules[0].response.statusCode", 400, 599),
	text("spec.rules[0].response.body.contentType", 3, 256, after("a/", "")).pattern(
		[]string{"application/problem+json", "text/plain; charset=utf-8"},
		[]string{"json", "text/plain\r\nX: y", "text/", "a b/c"}),
	longText("spec.rules[0].response.body.value", 4096),
},
	required("spec.rules[0]", "name"),
	required("spec.rules[0].tiers[0]", "name", "when"),
	required("spec.rules[0].response.body", "contentType", "value"),
)

var matchBounds = slices.Concat([]bound{
	someField("spec.rules[0].matches[0]"),
	list("spec.rules[0].matches[0].methods", 32, element("A#")),
	text("spec.rules[0].matches[0].methods[0]", 1, 63, func(n int) string { return strings.Repeat("A", n) }).pattern(
		[]string{"GET", "M-SEARCH"}, []string{"get", "1A", "GET ", "*"}),
	list("spec.rules[0].matches[0].hosts", 16, element("h#")),
	text("spec.rules[0].matches[0].hosts[0]", 1, 253, letters).pattern(
		[]string{"*.example.com", "10.0.0.1"}, []string{"A.com", "a.com:80", "*", "a..b", "*a.com", "a.*.com", "a."}),
	list("spec.rules[0].matches[0].headers", 8, element("{name: a#, value: b}")),
	headerName("spec.rules[0].matches[0].headers[0].name"),
	valueType("spec.rules[0].matches[0].headers[0].type"),
	list("spec.rules[0].matches[0].queryParams", 8, element("{name: a#, value: b}")),
	anyName("spec.rules[0].matches[0].queryParams[0].name"),
	valueType("spec.rules[0].matches[0].queryParams[0].type"),
	value("spec.rules[0].matches[0].headers[0].value"),
	value("spec.rules[0].matches[0].queryParams[0].value"),
},
	pathBounds("spec.rules[0].matches[0].path"),
	required("spec.rules[0].matches[0].headers[0]", "name"),
	required("spec.rules[0].matches[0].queryParams[0]", "name"),
)

var keyBounds = slices.Concat([]bound{
	label("spec.rules[0].key[0].name"),
	list("spec.rules[0].key[0].from", 4, element("{header: {name: X-#}}")),
	choice("spec.rules[0].key[0].onMissing", "Share Skip Deny", "Share Skip Deny"),
	oneField("spec.rules[0].key[0].from[0]", "{path: {}, method: {}}"),
	headerName("spec.rules[0].key[0].from[0].header.name"),
	text("spec.rules[0].key[0].from[0].jwtClaim.name", 1, 256, letters),
	label("spec.rules[0].key[0].from[0].jwtClaim.provider"),
	choice("spec.rules[0].key[0].from[0].jwtClaim.verification", "Required None", "Required None"),
	anyName("spec.rules[0].key[0].from[0].cookie.name"),
	anyName("spec.rules[0].key[0].from[0].queryParam.name"),
	anyName("spec.rules[0].key[0].from[0].pathParam.name"),
	expression("spec.rules[0].key[0].from[0].expression", "request.method"),
},
	required("spec.rules[0].key[0]", "name", "from"),
	required("spec.rules[0].key[0].from[0].header", "name"),
	required("spec.rules[0].key[0].from[0].jwtClaim", "name"),
	required("spec.rules[0].key[0].from[0].cookie", "name"),
	required("spec.rules[0].key[0].from[0].queryParam", "name"),
	required("spec.rules[0].key[0].from[0].pathParam", "name"),
)

var limitBounds = slices.Concat([]bound{
	label("spec.rules[0].limits[0].name"),
	number("spec.rules[0].limits[0].requests", 1, 1<<31),
	number("spec.rules[0].limits[0].burst", 1, 1<<31),
	length("spec.rules[0].limits[0].window", "10ms", "1m30s", "400h", "9600h", "1h1m1s1ms"),
	choice("spec.rules[0].limits[0].algorithm",
		"TokenBucket LeakyBucket SlidingWindowLog SlidingWindowCounter FixedWindow Concurrency",
		"TokenBucket LeakyBucket SlidingWindowLog SlidingWindowCounter FixedWindow"),
	choice("spec.rules[0].limits[0].calendar.period", "Day Week Month", "Day Week Month"),
	text("spec.rules[0].limits[0].calendar.timeZone", 1, 63, letters).pattern(
		[]string{"Europe/Atlantis"},
		[]string{"Europe/", "+01:00", "/UTC", "../UTC"}).
		operatorIsStricter("Europe/Berlin", "Etc/GMT+5", "UTC", "America/Argentina/Ushuaia"),
},
	required("spec.rules[0].limits[0]", "name", "requests"),
	required("spec.rules[0].limits[0].calendar", "period"),
)

var costBounds = slices.Concat([]bound{
	someField("spec.rules[0].cost"),
	number("spec.rules[0].cost.request.value", 0, 1<<31),
	headerName("spec.rules[0].cost.request.header.name"),
	anyName("spec.rules[0].cost.request.queryParam.name"),
	expression("spec.rules[0].cost.request.expression", "1"),
	number("spec.rules[0].cost.request.max", 1, 1<<31),
	headerName("spec.rules[0].cost.response.header"),
	number("spec.rules[0].cost.response.max", 1, 1<<31),
	list("spec.rules[0].cost.countOn.statusCodes", 32, func(i int) string { return quote(fmt.Sprint(400 + i)) }),
	text("spec.rules[0].cost.countOn.statusCodes[0]", 3, 3, func(n int) string { return strings.Repeat("4", n) }).pattern(
		[]string{"100", "599"}, []string{"099", "600", "4xx"}),
},
	required("spec.rules[0].cost.request.header", "name"),
	required("spec.rules[0].cost.request.queryParam", "name"),
	required("spec.rules[0].cost.response", "header"),
	required("spec.rules[0].cost.countOn", "statusCodes"),
)
