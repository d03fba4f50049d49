// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package proxy

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
)

// The outcomes of penstock_decisions_total.
const (
	outcomeAllowed      = "allowed"
	outcomeDenied       = "denied"
	outcomeShadowDenied = "shadow_denied"
	outcomeLocalAllowed = "local_allowed"
	outcomeLocalDenied  = "local_denied"
	outcomeStoreAllowed = "store_allowed"
	outcomeStoreDenied  = "store_denied"
	outcomeExempt       = "exempt"
)

// Metrics are what a sidecar measures, in a registry of its own. No label ever
// holds a client, a path or a key in clear.
type Metrics struct {
	// Registry is what the admin listener serves.
	Registry *prometheus.Registry

	decisions       *prometheus.CounterVec
	decisionSeconds prometheus.Histogram
	requestSeconds  prometheus.Histogram
	storeErrors     *prometheus.CounterVec
	breakerOpen     prometheus.Gauge
	rulesetInfo     *prometheus.GaugeVec
	noRules         prometheus.Counter
	notHTTP         prometheus.Counter
	nearLimit       *prometheus.CounterVec
	expressions     *prometheus.CounterVec
	unverified      *prometheus.CounterVec
	appFailures     *prometheus.CounterVec
}

// NewMetrics makes a fresh set of metrics.
func NewMetrics() *Metrics {
	m := &Metrics{
		Registry: prometheus.NewRegistry(),
		decisions: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "penstock_decisions_total", Help: "Requests that met a rule, by what became of them under it.",
		}, []string{"policy", "rule", "outcome"}),
		decisionSeconds: prometheus.NewHistogram(prometheus.HistogramOpts{
			Name: "penstock_decision_seconds", Help: "Time that deciding about a request took.",
			Buckets: []float64{.00005, .0001, .00025, .0005, .001, .0025, .005, .01, .025, .05, .1},
		}),
		requestSeconds: prometheus.NewHistogram(prometheus.HistogramOpts{
			Name: "penstock_request_seconds", Help: "Time from a request's header to the end of its answer, the app's time included.",
			Buckets: []float64{.0005, .001, .0025, .005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10, 30},
		}),
		storeErrors: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "penstock_store_errors_total", Help: "Calls to the store that gave no verdict, by kind of error.",
		}, []string{"kind"}),
		breakerOpen: prometheus.NewGauge(prometheus.GaugeOpts{
			Name: "penstock_breaker_open", Help: "1 while the store is not asked because it failed repeatedly.",
		}),
		rulesetInfo: prometheus.NewGaugeVec(prometheus.GaugeOpts{
			Name: "penstock_ruleset_info", Help: "The rule set in force: always 1, its revision is the label.",
		}, []string{"revision"}),
		noRules: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "penstock_no_rules_total", Help: "Requests served without any rule set, because none had come in time.",
		}),
	}
	m.notHTTP = prometheus.NewCounter(prometheus.CounterOpts{
		Name: "penstock_not_http_connections_total", Help: "Connections of TLS, passed through to the app without any limit.",
	})
	m.nearLimit = prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "penstock_near_limit_total", Help: "Requests that the store admitted, and that left less than a tenth of a limit.",
	}, []string{"policy", "rule"})
	m.expressions = prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "penstock_expression_errors_total", Help: "Evaluations of expressions that gave no value; rule is empty for those of exemptions.",
	}, []string{"policy", "rule"})
	m.unverified, m.appFailures = newUnverifiedTokens(), newAppFailures()
	m.Registry.MustRegister(m.nearLimit, m.expressions, m.unverified, m.appFailures, m.decisions, m.decisionSeconds, m.requestSeconds, m.storeErrors, m.breakerOpen, m.rulesetInfo, m.noRules, m.notHTTP,
		collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	return m
}

// StoreError counts a call to the store that gave no verdict.
func (m *Metrics) StoreError(kind string) { m.storeErrors.WithLabelValues(kind).Inc() }

// SetBreakerOpen tells whether the store is being asked.
func (m *Metrics) SetBreakerOpen(open bool) {
	m.breakerOpen.Set(0)
	if open {
		m.breakerOpen.Set(1)
	}
}

// WatchCorrectionsLost adds how many late charges and give-backs never reached the
// store. The number must not fall.
func (m *Metrics) WatchCorrectionsLost(lost func() int64) error {
	return m.Registry.Register(prometheus.NewCounterFunc(prometheus.CounterOpts{
		Name: "penstock_corrections_lost_total", Help: "Late charges and give-backs that never reached the store, so that it counts too little or too much until they would have worn off.",
	}, func() float64 { return float64(lost()) }))
}

// WatchMemoryForgotten adds how many counters of the process made room for others while
// they were in use. The number must not fall.
func (m *Metrics) WatchMemoryForgotten(forgotten func() int64) error {
	return m.Registry.Register(prometheus.NewCounterFunc(prometheus.CounterOpts{
		Name: "penstock_memory_keys_forgotten_total", Help: "Counters in memory that made room for others while in use: each may have admitted its limit once more.",
	}, func() float64 { return float64(forgotten()) }))
}

func (m *Metrics) rulesSet(revision string) {
	m.rulesetInfo.Reset()
	m.rulesetInfo.WithLabelValues(revision).Set(1)
}

// watchRulesetAge adds how long ago the rule set in force was known to be the
// newest; it grows while the store cannot be reached.
func (m *Metrics) watchRulesetAge(gate *rulesGate) error {
	return m.Registry.Register(prometheus.NewGaugeFunc(prometheus.GaugeOpts{
		Name: "penstock_ruleset_age_seconds", Help: "Time since the rule set in force was set or confirmed; 0 before the first.",
	}, func() float64 {
		confirmed := gate.confirmed.Load()
		if confirmed == 0 {
			return 0
		}
		return time.Since(time.Unix(0, confirmed)).Seconds()
	}))
}
