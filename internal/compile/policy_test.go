// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package compile

import (
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/penstock-dev/penstock/api/v1alpha1"
)

func TestInvalidFieldsAreNamedWithTheirMend(t *testing.T) {
	t.Parallel()
	type policy = v1alpha1.RateLimitPolicy
	tests := map[string]struct {
		change      func(*policy)
		wantField   string
		wantMessage string
	}{
		"no pods": {
			func(p *policy) { p.Spec.Selector = nil },
			"spec", "name workloads in targetRefs",
		},
		"targetRefs and selector": {
			func(p *policy) {
				p.Spec.TargetRefs = []v1alpha1.TargetReference{{Group: "apps", Kind: "Deployment", Name: "web"}}
			},
			"spec.selector", "remove one of them",
		},
		"kind of a target": {
			func(p *policy) {
				p.Spec.Selector = nil
				p.Spec.TargetRefs = []v1alpha1.TargetReference{{Group: "apps", Kind: "ReplicaSet", Name: "web"}}
			},
			"spec.targetRefs[0].kind", "Deployment, StatefulSet, DaemonSet, Service",
		},
		"group of a Service": {
			func(p *policy) {
				p.Spec.Selector = nil
				p.Spec.TargetRefs = []v1alpha1.TargetReference{{Group: "apps", Kind: "Service", Name: "web"}}
			},
			"spec.targetRefs[0].group", `group ""`,
		},
		"target without a name": {targeting(""), "spec.targetRefs[0].name", "name a Deployment"},
		"port of a Deployment": {
			func(p *policy) {
				p.Spec.Selector = nil
				p.Spec.TargetRefs = []v1alpha1.TargetReference{{Group: "apps", Kind: "Deployment", Name: "web", SectionName: "http"}}
			},
			"spec.targetRefs[0].sectionName", "only a Service has named ports",
		},
		"target twice": {targeting("web", "web"), "spec.targetRefs[1]", "same target"},
		"operator of a selector": {
			func(p *policy) {
				p.Spec.Selector = &metav1.LabelSelector{MatchExpressions: []metav1.LabelSelectorRequirement{{Key: "app", Operator: "Near"}}}
			},
			"spec.selector.matchExpressions[0].operator", "not a valid selector operator",
		},
		"mode":          {func(p *policy) { p.Spec.Mode = "Off" }, "spec.mode", "Enforce, Disabled"},
		"pathMatching":  {func(p *policy) { p.Spec.PathMatching = "Lax" }, "spec.pathMatching", "Loose, Strict"},
		"client source": {func(p *policy) { p.Spec.ClientIP = &v1alpha1.ClientIP{Source: "Socket"} }, "spec.clientIP.source", "Peer"},
		"prefix length": {
			func(p *policy) { p.Spec.ClientIP = &v1alpha1.ClientIP{IPv6PrefixLength: new(int32(129))} },
			"spec.clientIP.ipv6PrefixLength", "from 1 to 128",
		},
		"onAllowed": {
			func(p *policy) { p.Spec.Response = &v1alpha1.PolicyResponse{OnAllowed: "Never"} },
			"spec.response.onAllowed", "Include, Omit",
		},
		"unknown headers": {headers("Draft10"), "spec.response.headers[0]", "RateLimit, XRateLimit, Draft03, None"},
		"headers twice":   {headers("RateLimit", "RateLimit"), "spec.response.headers[1]", "twice"},
		"None and others": {headers("None", "RateLimit"), "spec.response.headers[0]", "None cannot stand"},
		"no rules":        {func(p *policy) { p.Spec.Rules = nil }, "spec.rules", "at least one"},
		"too many rules": {
			func(p *policy) { p.Spec.Rules = make([]v1alpha1.Rule, 65) }, "spec.rules", "at most 64",
		},
		"name of a rule": {func(p *policy) { p.Spec.Rules[0].Name = "Log_in" }, "spec.rules[0].name", "lower case"},
		"rule twice": {
			func(p *policy) { p.Spec.Rules = append(p.Spec.Rules, p.Spec.Rules[0]) },
			"spec.rules[1].name", "another",
		},
		"mode of a rule": {inRule(func(r *v1alpha1.Rule) { r.Mode = "Off" }), "spec.rules[0].mode", "Disabled"},
		"scope":          {inRule(func(r *v1alpha1.Rule) { r.Scope = "Node" }), "spec.rules[0].scope", "Policy"},
		"precision":      {inRule(func(r *v1alpha1.Rule) { r.Precision = "Rough" }), "spec.rules[0].precision", "Exact"},
		"a queue that is leased": {
			inRule(func(r *v1alpha1.Rule) {
				r.Precision, r.Limits[0].Algorithm, r.Limits[0].Burst = v1alpha1.PrecisionLeased, v1alpha1.AlgorithmLeakyBucket, new(int64(1))
			}),
			"spec.rules[0].precision", "write Exact",
		},
		"places that are leased": {
			inRule(func(r *v1alpha1.Rule) {
				r.Precision, r.Limits[0].Algorithm, r.Limits[0].Window = v1alpha1.PrecisionLeased, v1alpha1.AlgorithmConcurrency, ""
			}),
			"spec.rules[0].precision", "choose another algorithm",
		},
		"countOn that is leased": {
			inRule(func(r *v1alpha1.Rule) {
				r.Precision, r.Cost = v1alpha1.PrecisionLeased, &v1alpha1.Cost{CountOn: &v1alpha1.CountOn{StatusCodes: []string{"401"}}}
			}),
			"spec.rules[0].precision", "remove cost.countOn",
		},
		"costs of answers that are leased": {
			inRule(func(r *v1alpha1.Rule) {
				r.Precision, r.Cost = v1alpha1.PrecisionLeased, &v1alpha1.Cost{Response: &v1alpha1.ResponseCost{Header: "X-Cost"}}
			}),
			"spec.rules[0].precision", "remove cost.response",
		},
		"cost of nothing":     {cost(v1alpha1.Cost{}), "spec.rules[0].cost", "remove cost"},
		"cost without source": {cost(v1alpha1.Cost{Request: &v1alpha1.RequestCost{Max: new(int64(5))}}), "spec.rules[0].cost.request", "exactly one of"},
		"two costs": {
			cost(v1alpha1.Cost{Request: &v1alpha1.RequestCost{Value: new(int64(1)), Header: &v1alpha1.HeaderName{Name: "A"}}}),
			"spec.rules[0].cost.request", "exactly one of",
		},
		"cost below 0": {
			cost(v1alpha1.Cost{Request: &v1alpha1.RequestCost{Value: new(int64(-1))}}),
			"spec.rules[0].cost.request.value", "from 0 to 2147483648",
		},
		"cost above all limits": {
			cost(v1alpha1.Cost{Request: &v1alpha1.RequestCost{Value: new(int64(61))}}),
			"spec.rules[0].cost.request.value", `limit "minute" never holds more than 60`,
		},
		"max of a value": {
			cost(v1alpha1.Cost{Request: &v1alpha1.RequestCost{Value: new(int64(1)), Max: new(int64(5))}}),
			"spec.rules[0].cost.request.max", "remove max",
		},
		"max of a cost": {
			cost(v1alpha1.Cost{Request: &v1alpha1.RequestCost{Header: &v1alpha1.HeaderName{Name: "A"}, Max: new(int64(0))}}),
			"spec.rules[0].cost.request.max", "from 1 to 2147483648",
		},
		"header of a cost": {
			cost(v1alpha1.Cost{Request: &v1alpha1.RequestCost{Header: &v1alpha1.HeaderName{Name: "a b"}}}),
			"spec.rules[0].cost.request.header.name", "X-Cost",
		},
		"parameter of a cost": {
			cost(v1alpha1.Cost{Request: &v1alpha1.RequestCost{QueryParam: &v1alpha1.NamedKey{}}}),
			"spec.rules[0].cost.request.queryParam.name", "query parameter",
		},
		"header of an answer's cost": {
			cost(v1alpha1.Cost{Response: &v1alpha1.ResponseCost{Header: ""}}), "spec.rules[0].cost.response.header", "X-Cost",
		},
		"max of an answer's cost": {
			cost(v1alpha1.Cost{Response: &v1alpha1.ResponseCost{Header: "A", Max: new(int64(1 << 32))}}),
			"spec.rules[0].cost.response.max", "from 1 to 2147483648",
		},
		"no status codes": {cost(v1alpha1.Cost{CountOn: &v1alpha1.CountOn{}}), "spec.rules[0].cost.countOn.statusCodes", `"401"`},
		"status code": {
			cost(v1alpha1.Cost{CountOn: &v1alpha1.CountOn{StatusCodes: []string{"401", "4xx"}}}),
			"spec.rules[0].cost.countOn.statusCodes[1]", "from 100 to 599",
		},
		"countOn of places": {
			places(&v1alpha1.Cost{CountOn: &v1alpha1.CountOn{StatusCodes: []string{"401"}}}), "spec.rules[0].cost.countOn", "limit \"places\" cannot (Concurrency)",
		},
		"answer's cost of places": {
			places(&v1alpha1.Cost{Response: &v1alpha1.ResponseCost{Header: "A"}}), "spec.rules[0].cost.response", "limit \"places\" cannot (Concurrency)",
		},
		"too many places": {
			places(&v1alpha1.Cost{Request: &v1alpha1.RequestCost{Value: new(int64(10_001))}}), "spec.rules[0].cost.request.value", "at most 10000 places",
		},
		"max of too many places": {
			places(&v1alpha1.Cost{Request: &v1alpha1.RequestCost{Header: &v1alpha1.HeaderName{Name: "A"}, Max: new(int64(10_001))}}),
			"spec.rules[0].cost.request.max", "at most 10000 places",
		},
		"memory that is leased": {
			inRule(func(r *v1alpha1.Rule) { r.Scope, r.Precision = v1alpha1.ScopePod, v1alpha1.PrecisionLeased }),
			"spec.rules[0].precision", "no effect with scope Pod",
		},
		"memory without a store": {
			inRule(func(r *v1alpha1.Rule) { r.Scope, r.OnStoreFailure = v1alpha1.ScopePod, v1alpha1.OnStoreFailureDeny }),
			"spec.rules[0].onStoreFailure", "no effect with scope Pod",
		},
		"memory with a share": {
			inRule(func(r *v1alpha1.Rule) { r.Scope, r.Local = v1alpha1.ScopePod, &v1alpha1.Local{Looseness: "2"} }),
			"spec.rules[0].local", "no effect with scope Pod",
		},
		"targets of a selector": {
			inRule(func(r *v1alpha1.Rule) { r.Scope = v1alpha1.ScopeTarget }),
			"spec.rules[0].scope", "name workloads in targetRefs",
		},
		"percent below 0":   {inRule(func(r *v1alpha1.Rule) { r.EnforcePercent = new(int32(-1)) }), "spec.rules[0].enforcePercent", "from 0 to 100"},
		"percent above 100": {inRule(func(r *v1alpha1.Rule) { r.EnforcePercent = new(int32(101)) }), "spec.rules[0].enforcePercent", "from 0 to 100"},
		"status of a success": {
			inRule(func(r *v1alpha1.Rule) { r.Response = &v1alpha1.RuleResponse{StatusCode: new(int32(200))} }),
			"spec.rules[0].response.statusCode", "from 400 to 599",
		},
		"content type": {
			inRule(func(r *v1alpha1.Rule) {
				r.Response = &v1alpha1.RuleResponse{Body: &v1alpha1.ResponseBody{ContentType: "json\r\nX: y"}}
			}),
			"spec.rules[0].response.body.contentType", "such as application/json",
		},
		"body too long": {
			inRule(func(r *v1alpha1.Rule) {
				r.Response = &v1alpha1.RuleResponse{Body: &v1alpha1.ResponseBody{ContentType: "text/plain", Value: strings.Repeat("ü", 4097)}}
			}),
			"spec.rules[0].response.body.value", "has 4097 characters",
		},
		"onStoreFailure": {inRule(func(r *v1alpha1.Rule) { r.OnStoreFailure = "Open" }), "spec.rules[0].onStoreFailure", "Local, Allow, Deny"},
		"local without Local": {
			inRule(func(r *v1alpha1.Rule) {
				r.OnStoreFailure, r.Local = v1alpha1.OnStoreFailureDeny, &v1alpha1.Local{}
			}),
			"spec.rules[0].local", "no effect with onStoreFailure Deny",
		},
		"looseness": {
			inRule(func(r *v1alpha1.Rule) { r.Local = &v1alpha1.Local{Looseness: "1,5"} }),
			"spec.rules[0].local.looseness", "such as 1.5",
		},
		"empty match": {
			inRule(func(r *v1alpha1.Rule) { r.Matches = []v1alpha1.Match{{}} }),
			"spec.rules[0].matches[0]", "match every request",
		},
		"method": {
			inRule(func(r *v1alpha1.Rule) { r.Matches = []v1alpha1.Match{{Methods: []string{"GET", "get"}}} }),
			"spec.rules[0].matches[0].methods[1]", "upper case",
		},
		"type of a path":     {path("Suffix", "/a"), "spec.rules[0].matches[0].path.type", "PathPrefix"},
		"path without slash": {path("", "login"), "spec.rules[0].matches[0].path.value", `"/login"`},
		"path not canonical": {path("Exact", "/a//b/../c"), "spec.rules[0].matches[0].path.value", `"/a/c"`},
		"path with query":    {path("Exact", "/a?b"), "spec.rules[0].matches[0].path.value", `"/a"`},
		"path too long":      {path("", "/"+strings.Repeat("a", 512)), "spec.rules[0].matches[0].path.value", "at most 512"},
		"name of a key": {
			inRule(func(r *v1alpha1.Rule) {
				r.Key = []v1alpha1.KeyPart{{Name: "", From: []v1alpha1.KeySource{{ClientIP: &v1alpha1.ClientIPKey{}}}}}
			}),
			"spec.rules[0].key[0].name", "lower case",
		},
		"key without source": {
			inRule(func(r *v1alpha1.Rule) { r.Key = []v1alpha1.KeyPart{{Name: "client"}} }),
			"spec.rules[0].key[0].from", "clientIP: {}",
		},
		"onMissing": {
			inRule(func(r *v1alpha1.Rule) {
				r.Key = []v1alpha1.KeyPart{{Name: "client", OnMissing: "Drop", From: []v1alpha1.KeySource{{ClientIP: &v1alpha1.ClientIPKey{}}}}}
			}),
			"spec.rules[0].key[0].onMissing", "Share, Skip, Deny",
		},
		"empty source": {source(v1alpha1.KeySource{}), "spec.rules[0].key[0].from[0]", "exactly one source"},
		"two sources in one": {
			source(v1alpha1.KeySource{ClientIP: &v1alpha1.ClientIPKey{}, Header: &v1alpha1.HeaderName{Name: "A"}}),
			"spec.rules[0].key[0].from[0]", "an entry of its own",
		},
		"header name": {
			source(v1alpha1.KeySource{Header: &v1alpha1.HeaderName{Name: "X API"}}),
			"spec.rules[0].key[0].from[0].header.name", "X-API-Key",
		},
		"no limits": {inRule(func(r *v1alpha1.Rule) { r.Limits = nil }), "spec.rules[0].limits", "at least one"},
		"limit twice": {
			inRule(func(r *v1alpha1.Rule) { r.Limits = append(r.Limits, r.Limits[0]) }),
			"spec.rules[0].limits[1].name", "another",
		},
		"algorithm":         {inLimit(func(l *v1alpha1.Limit) { l.Algorithm = "Bucket" }), "spec.rules[0].limits[0].algorithm", "TokenBucket"},
		"requests 0":        {requests(0), "spec.rules[0].limits[0].requests", "from 1 to 2147483648"},
		"too many requests": {requests(1<<31 + 1), "spec.rules[0].limits[0].requests", "from 1 to 2147483648"},
		"no window":         {inLimit(func(l *v1alpha1.Limit) { l.Window = "" }), "spec.rules[0].limits[0].window", "such as 1m"},
		"fraction":          {inLimit(func(l *v1alpha1.Limit) { l.Window = "1.5s" }), "spec.rules[0].limits[0].window", "such as 1m30s"},
		"window too short":  {inLimit(func(l *v1alpha1.Limit) { l.Window = "9ms" }), "spec.rules[0].limits[0].window", "from 10ms"},
		"window too long":   {inLimit(func(l *v1alpha1.Limit) { l.Window = "9600h1ms" }), "spec.rules[0].limits[0].window", "9600h"},
		"window and calendar": {
			inLimit(func(l *v1alpha1.Limit) { l.Calendar = &v1alpha1.Calendar{Period: v1alpha1.CalendarDay} }),
			"spec.rules[0].limits[0].window", "remove one of them",
		},
		"calendar of no period": {calendar("", "Year", ""), "spec.rules[0].limits[0].calendar.period", "Day, Week, Month"},
		"unknown time zone":     {calendar("", "Day", "Europe/Atlantis"), "spec.rules[0].limits[0].calendar.timeZone", "such as Europe/Berlin"},
		"the machine's zone":    {calendar("", "Day", "Local"), "spec.rules[0].limits[0].calendar.timeZone", "such as Europe/Berlin"},
		"bucket with a calendar": {
			calendar(v1alpha1.AlgorithmTokenBucket, "Day", ""),
			"spec.rules[0].limits[0].algorithm", "remove algorithm",
		},
		"log of too many requests": {
			inLimit(func(l *v1alpha1.Limit) { l.Algorithm, l.Requests = v1alpha1.AlgorithmSlidingWindowLog, maxLogged+1 }),
			"spec.rules[0].limits[0].requests", "choose SlidingWindowCounter",
		},
		"burst 0": {inLimit(func(l *v1alpha1.Limit) { l.Burst = new(int64(0)) }), "spec.rules[0].limits[0].burst", "from 1 to"},
		"burst of a window": {
			inLimit(func(l *v1alpha1.Limit) { l.Algorithm, l.Burst = v1alpha1.AlgorithmFixedWindow, new(int64(5)) }),
			"spec.rules[0].limits[0].burst", "use TokenBucket",
		},
		"queue that takes too long": {
			inLimit(func(l *v1alpha1.Limit) { l.Algorithm, l.Requests = v1alpha1.AlgorithmLeakyBucket, 100 }),
			"spec.rules[0].limits[0].burst", "write burst: 50 or less",
		},
		"queue that is too slow": {
			inLimit(func(l *v1alpha1.Limit) { l.Algorithm, l.Requests = v1alpha1.AlgorithmLeakyBucket, 1 }),
			"spec.rules[0].limits[0].burst", "one in 30s at least",
		},
		"bucket that takes too long": {
			inLimit(func(l *v1alpha1.Limit) { l.Requests, l.Window, l.Burst = 1, "9600h", new(int64(10)) }),
			"spec.rules[0].limits[0]", "10 years",
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			result, rules := compileOne(t, nil, nil, newPolicy("web", tc.change))
			if result.Reason != v1alpha1.ReasonInvalid {
				t.Errorf("reason %q, want %q", result.Reason, v1alpha1.ReasonInvalid)
			}
			if result.ActiveGeneration != 0 || len(rules.Policies) != 0 {
				t.Errorf("an invalid policy is in force: %+v", rules.Policies)
			}
			for _, problem := range result.Problems {
				if problem.Field == tc.wantField && strings.Contains(problem.Message, tc.wantMessage) {
					return
				}
			}
			t.Errorf("problems %+v, want one of %s with %q", result.Problems, tc.wantField, tc.wantMessage)
		})
	}
}

func headers(families ...v1alpha1.HeaderFamily) func(*v1alpha1.RateLimitPolicy) {
	return func(p *v1alpha1.RateLimitPolicy) { p.Spec.Response = &v1alpha1.PolicyResponse{Headers: families} }
}

func inRule(change func(*v1alpha1.Rule)) func(*v1alpha1.RateLimitPolicy) {
	return func(p *v1alpha1.RateLimitPolicy) { change(&p.Spec.Rules[0]) }
}

func cost(cost v1alpha1.Cost) func(*v1alpha1.RateLimitPolicy) {
	return inRule(func(r *v1alpha1.Rule) { r.Cost = &cost })
}

// places is a limit of many requests at once, with a cost.
func places(cost *v1alpha1.Cost) func(*v1alpha1.RateLimitPolicy) {
	return inRule(func(r *v1alpha1.Rule) {
		r.Cost, r.Limits[0] = cost, v1alpha1.Limit{Name: "places", Requests: 1 << 20, Algorithm: v1alpha1.AlgorithmConcurrency}
	})
}

func inLimit(change func(*v1alpha1.Limit)) func(*v1alpha1.RateLimitPolicy) {
	return func(p *v1alpha1.RateLimitPolicy) { change(&p.Spec.Rules[0].Limits[0]) }
}

func calendar(algorithm v1alpha1.Algorithm, period v1alpha1.CalendarPeriod, zone string) func(*v1alpha1.RateLimitPolicy) {
	return inLimit(func(l *v1alpha1.Limit) {
		l.Algorithm, l.Window, l.Calendar = algorithm, "", &v1alpha1.Calendar{Period: period, TimeZone: zone}
	})
}

func source(source v1alpha1.KeySource) func(*v1alpha1.RateLimitPolicy) {
	return inRule(func(r *v1alpha1.Rule) {
		r.Key = []v1alpha1.KeyPart{{Name: "client", From: []v1alpha1.KeySource{source}}}
	})
}

func path(kind v1alpha1.PathMatchType, value string) func(*v1alpha1.RateLimitPolicy) {
	return inRule(func(r *v1alpha1.Rule) {
		r.Matches = []v1alpha1.Match{{Path: &v1alpha1.PathMatch{Type: kind, Value: value}}}
	})
}
