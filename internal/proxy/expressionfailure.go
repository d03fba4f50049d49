// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package proxy

import (
	"log/slog"
	"math/rand/v2"
	"time"

	"github.com/penstock-dev/penstock/internal/match"
	"github.com/penstock-dev/penstock/internal/ruleset"
)

// expressionLogsPerSecond is how many requests are logged in a second for expressions
// that failed: one that fails mostly does for every request of its kind.
const expressionLogsPerSecond = 1

func newExpressionLog(logger *slog.Logger) *sampledLog {
	return newSampledLog(logger, slog.LevelWarn, expressionLogsPerSecond, time.Now)
}

// expressionsFailed notes the expressions that gave no value for a request. Of several one
// is logged, whichever: always the first would hide the others.
func (s *Server) expressionsFailed(failed []match.ExpressionError) {
	if len(failed) == 0 {
		return
	}
	for i := range failed {
		name := ruleOfExpression(&failed[i])
		s.metrics.expressions.WithLabelValues(name.Policy, name.Rule).Inc()
	}
	omitted, mayLog := s.expressionLog.take()
	if !mayLog {
		return
	}
	one := &failed[rand.IntN(len(failed))]
	name := ruleOfExpression(one)
	s.logger.Warn("An expression gave no value for a request: have it ask first whether what it reads is there, and of the kind that it wants",
		append([]any{"policy", name.Policy, "rule", name.Rule, "field", one.Field, "reason", one.Reason}, omitted...)...)
}

// ruleOfExpression is the rule that an expression is of, without a name for an exemption.
func ruleOfExpression(failed *match.ExpressionError) RuleName {
	name := RuleName{Policy: ruleset.PolicyLabel(failed.Policy.Kind, failed.Policy.Name)}
	if failed.Rule != nil {
		name.Rule = failed.Rule.Name
	}
	return name
}
