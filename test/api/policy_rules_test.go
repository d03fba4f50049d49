// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package api

import "slices"

var targetRules = []rule{
	{
		field:    "spec.targetRefs",
		message:  "name the limited pods: set targetRefs (workloads by name), or selector (pods by label; selector: {} is every pod of the namespace)",
		accepted: change{"spec.selector": "{matchLabels: {app: web}}"},
		refused:  change{"spec.selector": ""},
	},
	{
		field:    "spec.selector",
		message:  "targetRefs and selector exclude each other: remove one of them",
		accepted: change{"spec.selector": "", "spec.targetRefs": "[{group: apps, kind: Deployment, name: web}]"},
		refused:  change{"spec.targetRefs": "[{group: apps, kind: Deployment, name: web}]"},
	},
	{
		field:    "spec.targetRefs[0].group",
		message:  `the group does not fit the kind: write group: apps for Deployment, StatefulSet and DaemonSet, group: "" for Service`,
		accepted: change{"spec.selector": "", "spec.targetRefs": "[{group: '', kind: Service, name: web}, {group: apps, kind: DaemonSet, name: web}]"},
		refused:  change{"spec.selector": "", "spec.targetRefs": "[{group: apps, kind: Service, name: web}]"},
	},
	{
		field:    "spec.targetRefs[0].group",
		message:  `the group does not fit the kind: write group: apps for Deployment, StatefulSet and DaemonSet, group: "" for Service`,
		accepted: change{"spec.selector": "", "spec.targetRefs": "[{group: apps, kind: StatefulSet, name: web}]"},
		refused:  change{"spec.selector": "", "spec.targetRefs": "[{group: '', kind: Deployment, name: web}]"},
	},
	{
		field:    "spec.targetRefs[0].sectionName",
		message:  "only a Service has named ports: remove sectionName, or target the Service",
		accepted: change{"spec.selector": "", "spec.targetRefs": "[{group: '', kind: Service, name: web, sectionName: http}]"},
		refused:  change{"spec.selector": "", "spec.targetRefs": "[{group: apps, kind: Deployment, name: web, sectionName: http}]"},
	},
	{
		field:    "spec.rules",
		message:  "scope: Target counts each of targetRefs apart: name workloads in targetRefs, or set scope: Policy",
		accepted: change{"spec.selector": "", "spec.targetRefs": "[{group: apps, kind: Deployment, name: web}]", "spec.rules[0].scope": "Target"},
		refused:  change{"spec.rules[0].scope": "Target"},
	},
}

// policyRules are the rules of fields that policies of namespaces and of the
// cluster have in common.
var policyRules = slices.Concat(clientIPRules, answerRules, ruleRules, limitRules, matchRules)

const readsNoHeader = "source Peer reads no header: set source to XForwardedFor or Header, or remove "

var clientIPRules = []rule{
	{
		field:    "spec.clientIP.headerName",
		message:  "source Header needs headerName: name the header that holds the client's address, such as CF-Connecting-IP",
		accepted: change{"spec.clientIP": "{source: Header, headerName: X-Real-IP, trustedCIDRs: [10.0.0.0/8]}"},
		refused:  change{"spec.clientIP": "{source: Header, trustedCIDRs: [10.0.0.0/8]}"},
	},
	{
		field:    "spec.clientIP.headerName",
		message:  "headerName is read only with source Header: set source: Header, or remove headerName",
		accepted: change{"spec.clientIP": "{source: XForwardedFor, trustedCIDRs: [10.0.0.0/8]}"},
		refused:  change{"spec.clientIP": "{source: XForwardedFor, trustedCIDRs: [10.0.0.0/8], headerName: X-Real-IP}"},
	},
	{
		field:    "spec.clientIP.trustedCIDRs",
		message:  "anyone could forge the header: set trustedCIDRs to the addresses of the proxies that write it",
		accepted: change{"spec.clientIP": "{source: Peer}"},
		refused:  change{"spec.clientIP": "{source: XForwardedFor}"},
	},
	{
		field:    "spec.clientIP.trustedCIDRs",
		message:  readsNoHeader + "trustedCIDRs",
		accepted: change{"spec.clientIP": "{ipv6PrefixLength: 56}"},
		refused:  change{"spec.clientIP": "{source: Peer, trustedCIDRs: [10.0.0.0/8]}"},
	},
	{
		field:    "spec.clientIP.trustedHops",
		message:  readsNoHeader + "trustedHops",
		accepted: change{"spec.clientIP": "{source: XForwardedFor, trustedCIDRs: [10.0.0.0/8], trustedHops: 2}"},
		refused:  change{"spec.clientIP": "{trustedHops: 2}"},
	},
	{
		field:    "spec.clientIP.trustedCIDRs[0]",
		message:  notCIDR,
		accepted: change{"spec.clientIP": "{source: XForwardedFor, trustedCIDRs: [10.0.0.0/8, '2001:db8::/32']}"},
		refused:  change{"spec.clientIP": "{source: XForwardedFor, trustedCIDRs: [10.0.0.1]}"},
	},
	{
		field:    "spec.exempt.cidrs[0]",
		message:  notCIDR,
		accepted: change{"spec.exempt": "{cidrs: [192.0.2.7/32]}"},
		refused:  change{"spec.exempt": "{cidrs: [10.0.0.0/33]}"},
	},
}

const notCIDR = "write an address range such as 10.0.0.0/8, 192.0.2.7/32 or 2001:db8::/32"

var answerRules = []rule{
	{
		field:    "spec.response.headers",
		message:  "None stands alone: remove None, or the other families",
		accepted: change{"spec.response": "{headers: [None]}"},
		refused:  change{"spec.response": "{headers: [RateLimit, None]}"},
	},
	{
		field:    "spec.response.headers",
		message:  "a family is named twice: remove one of them",
		accepted: change{"spec.response": "{headers: [Draft03, XRateLimit]}"},
		refused:  change{"spec.response": "{headers: [Draft03, Draft03]}"},
	},
}

const (
	leased     = "LeakyBucket and Concurrency cannot be leased: set precision: Exact, or choose another algorithm for all limits of the rule"
	corrected  = "what was leased cannot be corrected: set precision: Exact, or remove cost.countOn and cost.response"
	ofPod      = "scope: Pod counts in memory and never asks the store: remove precision: Leased, onStoreFailure and local, or set scope: Policy"
	notAfter   = "LeakyBucket and Concurrency cannot be charged after the answer: remove response, or give these limits a rule of their own"
	givenBack  = "what LeakyBucket and Concurrency admitted cannot be given back: remove countOn, or choose another algorithm for all limits of the rule"
	atOnce     = "[{name: limit, requests: 10, algorithm: Concurrency}]"
	atOnceTier = "[{name: pro, when: 'true', limits: [{name: limit, requests: 10, algorithm: Concurrency}]}]"
)

var ruleRules = []rule{
	{
		field:    "spec.rules[0].limits",
		message:  "a rule without limits limits nothing: add limits, or tiers that have some",
		accepted: change{"spec.rules[0]": "{name: rule, tiers: [{name: pro, when: 'true', limits: [{name: limit, requests: 1, window: 1s}]}]}"},
		refused:  change{"spec.rules[0]": "{name: rule}"},
	},
	{
		field:    "spec.rules[0].local",
		message:  "local tunes onStoreFailure: Local: set that, or remove local",
		accepted: change{"spec.rules[0].local": "{looseness: '2'}"},
		refused:  change{"spec.rules[0].local": "{looseness: '2'}", "spec.rules[0].onStoreFailure": "Deny"},
	},
	{
		field:    "spec.rules[0].local.looseness",
		message:  `looseness 0 would admit nothing: write a number above 0, such as "1.5", or onStoreFailure: Deny`,
		accepted: change{"spec.rules[0].local": "{looseness: '0.001'}"},
		refused:  change{"spec.rules[0].local": "{looseness: '0.000'}"},
	},
	{
		field:    "spec.rules[0].cost.countOn",
		message:  givenBack,
		accepted: change{"spec.rules[0].cost": "{countOn: {statusCodes: ['401']}}"},
		refused:  change{"spec.rules[0].cost": "{countOn: {statusCodes: ['401']}}", "spec.rules[0].limits": atOnce},
	},
	{
		field:    "spec.rules[0].cost.countOn",
		message:  givenBack,
		accepted: change{"spec.rules[0].tiers": atOnceTier},
		refused:  change{"spec.rules[0].cost": "{countOn: {statusCodes: ['401']}}", "spec.rules[0].tiers": atOnceTier},
	},
	{
		field:    "spec.rules[0].cost.response",
		message:  notAfter,
		accepted: change{"spec.rules[0].cost": "{response: {header: X-Cost}}"},
		refused:  change{"spec.rules[0].cost": "{response: {header: X-Cost}}", "spec.rules[0].limits": atOnce},
	},
	{
		field:    "spec.rules[0].cost.response",
		message:  notAfter,
		accepted: change{"spec.rules[0].cost": "{response: {header: X-Cost}}", "spec.rules[0].tiers": "[{name: pro, when: 'true', unlimited: {}}]"},
		refused:  change{"spec.rules[0].cost": "{response: {header: X-Cost}}", "spec.rules[0].tiers": atOnceTier},
	},
	{
		field:    "spec.rules[0].precision",
		message:  leased,
		accepted: change{"spec.rules[0].precision": "Exact", "spec.rules[0].limits": atOnce},
		refused:  change{"spec.rules[0].precision": "Leased", "spec.rules[0].limits": atOnce},
	},
	{
		field:    "spec.rules[0].precision",
		message:  leased,
		accepted: change{"spec.rules[0].precision": "Leased", "spec.rules[0].tiers": "[{name: pro, when: 'true', unlimited: {}}]"},
		refused:  change{"spec.rules[0].precision": "Leased", "spec.rules[0].tiers": atOnceTier},
	},
	{
		field:    "spec.rules[0].precision",
		message:  corrected,
		accepted: change{"spec.rules[0].precision": "Leased", "spec.rules[0].cost": "{request: {value: 2}}"},
		refused:  change{"spec.rules[0].precision": "Leased", "spec.rules[0].cost": "{countOn: {statusCodes: ['401']}}"},
	},
	{
		field:    "spec.rules[0].precision",
		message:  corrected,
		accepted: change{"spec.rules[0].precision": "Exact", "spec.rules[0].cost": "{response: {header: X-Cost}}"},
		refused:  change{"spec.rules[0].precision": "Leased", "spec.rules[0].cost": "{response: {header: X-Cost}}"},
	},
	{
		field:    "spec.rules[0].scope",
		message:  ofPod,
		accepted: change{"spec.rules[0].scope": "Pod", "spec.rules[0].precision": "Exact"},
		refused:  change{"spec.rules[0].scope": "Pod", "spec.rules[0].precision": "Leased"},
	},
	{
		field:    "spec.rules[0].scope",
		message:  ofPod,
		accepted: change{"spec.rules[0].scope": "Pod", "spec.rules[0].key": "[{name: client, from: [{clientIP: {}}]}]"},
		refused:  change{"spec.rules[0].scope": "Pod", "spec.rules[0].onStoreFailure": "Local"},
	},
	{
		field:    "spec.rules[0].scope",
		message:  ofPod,
		accepted: change{"spec.rules[0].scope": "Pod", "spec.rules[0].enforcePercent": "50"},
		refused:  change{"spec.rules[0].scope": "Pod", "spec.rules[0].local": "{looseness: '2'}"},
	},
	{
		field:    "spec.rules[0].tiers[0].limits",
		message:  "say what the tier allows: set limits, or unlimited: {}",
		accepted: change{"spec.rules[0].tiers": "[{name: pro, when: 'true', unlimited: {}}]"},
		refused:  change{"spec.rules[0].tiers": "[{name: pro, when: e}]"},
	},
	{
		field:    "spec.rules[0].tiers[0].unlimited",
		message:  "limits and unlimited exclude each other: remove one of them",
		accepted: change{"spec.rules[0].tiers": "[{name: pro, when: 'true', limits: [{name: limit, requests: 1, window: 1s}]}]"},
		refused:  change{"spec.rules[0].tiers": "[{name: pro, when: 'true', unlimited: {}, limits: [{name: limit, requests: 1, window: 1s}]}]"},
	},
	{
		field:    "spec.rules[0].cost.request.value",
		message:  "a cost has one source: set exactly one of value, header, queryParam and expression",
		accepted: change{"spec.rules[0].cost": "{request: {expression: 1 + 1, max: 10}}"},
		refused:  change{"spec.rules[0].cost": "{request: {value: 1, header: {name: X-Cost}}}"},
	},
	{
		field:    "spec.rules[0].cost.request.value",
		message:  "a cost has one source: set exactly one of value, header, queryParam and expression",
		accepted: change{"spec.rules[0].cost": "{request: {queryParam: {name: items}}}"},
		refused:  change{"spec.rules[0].cost": "{request: {max: 10}}"},
	},
	{
		field:    "spec.rules[0].cost.request.max",
		message:  "max bounds what a request says, value is yours: remove max",
		accepted: change{"spec.rules[0].cost": "{request: {header: {name: X-Cost}, max: 10}}"},
		refused:  change{"spec.rules[0].cost": "{request: {value: 1, max: 10}}"},
	},
	{
		field:    "spec.rules[0].key[0].from[0].jwtClaim.provider",
		message:  "an unverified token has no provider: remove provider, or verification: None",
		accepted: claimFrom("name: sub, provider: idp, verification: Required", "idp"),
		refused:  claimFrom("name: sub, provider: idp, verification: None", "idp"),
	},
}

// limitOf is a change of the one limit of the one rule.
func limitOf(more string) change {
	return change{"spec.rules[0].limits": "[{name: limit, " + more + "}]"}
}

var limitRules = []rule{
	{
		field:    "spec.rules[0].limits[0].window",
		message:  "Concurrency counts requests at once and has no window: remove window",
		accepted: limitOf("requests: 10, algorithm: Concurrency"),
		refused:  limitOf("requests: 10, algorithm: Concurrency, window: 1s"),
	},
	{
		field:    "spec.rules[0].limits[0].window",
		message:  "say in what time: set window, such as 1m, or calendar, such as {period: Day}",
		accepted: limitOf("requests: 10, calendar: {period: Week, timeZone: Europe/Berlin}"),
		refused:  limitOf("requests: 10"),
	},
	{
		field:    "spec.rules[0].limits[0].calendar",
		message:  "window and calendar exclude each other: remove one of them",
		accepted: limitOf("requests: 10, window: 1s"),
		refused:  limitOf("requests: 10, window: 1s, calendar: {period: Day}"),
	},
	{
		field:    "spec.rules[0].limits[0].calendar",
		message:  "a calendar window is always a FixedWindow: remove algorithm, or write a window in place of calendar",
		accepted: limitOf("requests: 10, calendar: {period: Day}, algorithm: FixedWindow"),
		refused:  limitOf("requests: 10, calendar: {period: Day}, algorithm: TokenBucket"),
	},
	{
		field:    "spec.rules[0].limits[0].burst",
		message:  onlyBuckets,
		accepted: limitOf("requests: 10, window: 1s, burst: 20"),
		refused:  limitOf("requests: 10, window: 1s, burst: 20, algorithm: SlidingWindowCounter"),
	},
	{
		field:    "spec.rules[0].limits[0].burst",
		message:  onlyBuckets,
		accepted: limitOf("requests: 10, window: 1s, burst: 20, algorithm: LeakyBucket"),
		refused:  limitOf("requests: 10, calendar: {period: Day}, burst: 20"),
	},
	{
		field:    "spec.rules[0].limits[0].requests",
		message:  "SlidingWindowLog remembers each request, at most 10000: lower requests, or choose SlidingWindowCounter",
		accepted: limitOf("requests: 10000, window: 1s, algorithm: SlidingWindowLog"),
		refused:  limitOf("requests: 10001, window: 1s, algorithm: SlidingWindowLog"),
	},
	{
		field:    "spec.rules[0].limits[0].burst",
		message:  longWait,
		accepted: limitOf("requests: 2147483648, window: 30s, algorithm: LeakyBucket"),
		refused:  limitOf("requests: 10, window: 31s, algorithm: LeakyBucket"),
	},
	{
		field:    "spec.rules[0].limits[0].burst",
		message:  longWait,
		accepted: limitOf("requests: 10, window: 10s, burst: 30, algorithm: LeakyBucket"),
		refused:  limitOf("requests: 10, window: 9600h, burst: 2147483648, algorithm: LeakyBucket"),
	},
	{
		field:    "spec.rules[0].limits[0].window",
		message:  "write a window from 10ms to 9600h (400 days)",
		accepted: limitOf("requests: 10, window: 9599h59m60s"),
		refused:  limitOf("requests: 10, window: 9600h1ms"),
	},
	{
		field:    "spec.rules[0].limits[0].window",
		message:  "write a window from 10ms to 9600h (400 days)",
		accepted: limitOf("requests: 10, window: 10ms"),
		refused:  limitOf("requests: 10, window: 9ms"),
	},
	{
		field:    "spec.rules[0].limits[0].calendar.timeZone",
		message:  "Local differs from machine to machine: name a zone, such as Europe/Berlin or UTC",
		accepted: limitOf("requests: 10, calendar: {period: Month, timeZone: UTC}"),
		refused:  limitOf("requests: 10, calendar: {period: Month, timeZone: Local}"),
	},
}

const (
	onlyBuckets = "only TokenBucket and LeakyBucket have a burst: remove burst, or choose one of them with a window"
	longWait    = "requests would wait longer than 30s (burst × window ÷ requests): set a smaller burst"
)
