// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package main

// fault is one seeded fault: in file, old (which must occur once) becomes new, and
// the named test of pkg must turn red.
type fault struct {
	name      string
	file      string
	old, new  string
	pkg, test string
}

// The packages whose tests catch the faults.
const (
	limiterTests     = "./internal/limiter"
	storeTests       = "./internal/store"
	matchTests       = "./internal/match"
	proxyTests       = "./internal/proxy"
	compileTests     = "./internal/compile"
	injectTests      = "./internal/webhook/inject"
	controllersTests = "./controllers"
)

var faults = []fault{
	{"limiter: one request too many in a bucket", "internal/limiter/decide.lua",
		"admits = after < empty or", "admits = debt < empty or", limiterTests, "TestModelAgreesOnEveryNumber"},
	{"limiter: one request too many in a window", "internal/limiter/decide.lua",
		"admits = count + cost <= requests", "admits = count + cost <= requests + 1", limiterTests, "TestModelAgreesOnEveryNumber"},
	{"limiter: the window before weighed too little", "internal/limiter/decide.lua",
		"before * (steps - past) <=", "before * (steps - past - 1) <=", limiterTests, "TestModelAgreesOnEveryNumber"},
	{"limiter: an old window taken for the one before", "internal/limiter/decide.lua",
		"number == current - 1 and count or 0, 0", "count, 0", limiterTests, "TestModelAgreesOnEveryNumber"},
	{"limiter: one request too many in a log", "internal/limiter/decide.lua",
		"admits = cost <= requests - count", "admits = cost <= requests - count + 1", limiterTests, "TestModelAgreesOnEveryNumber"},
	{"limiter: an entry worn off a moment early", "internal/limiter/decide.lua",
		"elseif entry > edge then", "elseif entry > edge + 1 then", limiterTests, "TestModelAgreesOnEveryNumber"},
	{"limiter: a log wears off a moment late", "internal/limiter/decide.lua",
		"elseif newest <= edge then", "elseif newest < edge then", limiterTests, "TestModelAgreesOnEveryNumber"},
	{"limiter: a log that is read from the front", "internal/limiter/decide.lua",
		"min(low + stride - 1, high - 1), stride * 2", "low, stride", limiterTests, "TestAFullLogIsReadByHalving"},
	{"limiter: entries of a later time not cut", "internal/limiter/decide.lua",
		"if newest > now then", "if false then", limiterTests, "TestModelAgreesWhenTheClockStepsBack"},
	{"limiter: a log without expiry", "internal/limiter/decide.lua",
		"    call('PEXPIRE', name, lifetimes[name])\n", "", limiterTests, "TestStateIsSmallAndExpires"},
	{"limiter: a calendar window begins a moment late", "internal/limiter/decide.lua",
		"if from <= now and now < to then", "if from < now and now <= to then", limiterTests, "TestModelAgreesOnEveryNumber"},
	{"limiter: a wrong clock of the caller decides", "internal/limiter/decide.lua",
		"admits and not longest and not outside", "admits and not longest", limiterTests, "TestThisMachinesClockDecidesNothing"},
	{"limiter: midnight where clocks jump over it", "internal/limiter/calendar.go",
		"		if begin.Before(from) {\n			begin = from\n		}\n", "", limiterTests, "TestPeriodsBegin"},
	{"limiter: every day is 24 hours long", "internal/limiter/calendar.go",
		"		day += periods\n	}\n	return c.midnight(time.Date(year, month, day, 0, 0, 0, 0, time.UTC)).UnixMicro()",
		"	}\n	return c.midnight(time.Date(year, month, day, 0, 0, 0, 0, time.UTC)).Add(time.Duration(periods) * 24 * time.Hour).UnixMicro()", limiterTests, "TestPeriodsBegin"},
	{"limiter: a step counted before it is over", "internal/limiter/decide.lua",
		"local past = (elapsed - elapsed % step) / step", "local past = ceil(elapsed / step)", limiterTests, "TestCoarseCountersNeverAdmitTooMuch"},
	{"limiter: a refused request is charged", "internal/limiter/decide.lua",
		"if admitted then\n    for", "if true then\n    for", limiterTests, "TestRefusalChargesNothing"},
	{"limiter: a key without expiry", "internal/limiter/decide.lua",
		"call('SET', name, state, 'PX', lifetimes[name])", "call('SET', name, state)", limiterTests, "TestStateIsSmallAndExpires"},
	{"limiter: another clock than the store's", "internal/limiter/decide.lua",
		"local now = tonumber(time[1]) * 1000000 + tonumber(time[2])", "local now = 1800000000000000", limiterTests, "TestTheStoresClockDecides"},
	{"limiter: the remainder of a microsecond dropped", "internal/limiter/decide.lua",
		"local after, after_rest = debt + cost, rest + cost_rest", "local after, after_rest = debt + cost, rest", limiterTests, "TestModelAgreesAtTheExtremes"},
	{"limiter: a clock that stepped back not cut", "internal/limiter/decide.lua",
		"debt, rest = empty, empty_rest", "debt, rest = debt, rest", limiterTests, "TestModelAgreesWhenTheClockStepsBack"},
	{"limiter: a lost reply asked for again", "internal/limiter/script.go",
		"func (onceCommand) NoRetry() bool { return true }", "func (onceCommand) NoRetry() bool { return false }", limiterTests, "TestALostReplyIsNotAskedForAgain"},
	{"limiter: a batch does not see its own charges", "internal/limiter/decide.lua",
		"local algorithm, stored = ARGV[at], states[KEYS[i]]", "local algorithm, stored = ARGV[at], nil", limiterTests, "TestABatchIsLikeOneAfterTheOther"},
	{"limiter: a log's batch forgets what it added", "internal/limiter/decide.lua",
		"total, low, kept, added = unpack(stored)", "total, low, kept = unpack(stored)", limiterTests, "TestABatchIsLikeOneAfterTheOther"},
	{"limiter: a batch's requests given one answer", "internal/limiter/call.go",
		"q.stands, reply, q.err =", "q.stands, _, q.err =", limiterTests, "TestABatchIsLikeOneAfterTheOther"},
	{"limiter: sent for a client that left", "internal/limiter/dispatcher.go",
		"if q.queued && !q.isOver(now) {", "if !q.isOver(now) || true {", limiterTests, "TestWhoLeftOrIsLateIsNotSent"},
	{"limiter: a connection that timed out kept", "internal/limiter/dispatcher.go",
		"if spoilt || d.closed {", "if d.closed {", limiterTests, "TestALateReplyIsNeverReadByTheNext"},
	{"limiter: one corrupt counter fails the batch", "internal/limiter/decide.lua",
		"longest and -1 or", "", limiterTests, "TestACorruptCounterFailsOnlyItsRequestOfABatch"},
	{"limiter: a refusal remembered too long", "internal/limiter/remembered.go",
		"until: sent.Add(min(wait, rememberedFor))", "until: sent.Add(wait)", limiterTests, "TestAResetShowsWithinASecond"},
	{"limiter: a refusal held against less", "internal/limiter/remembered.go",
		"checks[i].Cost < known.cost || ", "", limiterTests, "TestARefusalIsRemembered"},
	{"limiter: a refusal outlives its rule set", "internal/limiter/remembered.go",
		"known.limit != checks[i].Limit || ", "", limiterTests, "TestARefusalIsRemembered"},

	{"store: an older rule set put in force", "internal/store/inforce.go",
		"if found.sequence <= f.seen && !f.liveChanged(found) {", "if false {", storeTests, "TestInForceNeverGoesBackToAnOlderSequence"},
	{"store: acknowledged before it is in force", "internal/store/inforce.go",
		"	if err := f.events.Apply(update); err != nil {\n		return f.refuse(err)\n	}\n	f.current = update",
		"	f.current = update\n	f.tell()\n	if err := f.events.Apply(update); err != nil {\n		return f.refuse(err)\n	}",
		storeTests, "TestInForceTellsOnlyAfterApplying"},

	{"controllers: the ack's sequence ignored", "controllers/pod_counts.go",
		"changedAt > 0 && ack.Sequence >= changedAt", "changedAt > 0", controllersTests, "TestCountPods"},
	{"controllers: a silent sidecar believed", "controllers/pod_counts.go",
		"return v.now.Sub(quietSince) > silentAfter", "return false", controllersTests, "TestCountPods"},

	{"compile: the last valid form dropped", "internal/compile/namespace.go",
		"last[p.Name] = p", "_ = p", compileTests, "TestLastValidFormStaysInForce"},
	{"compile: the stronger mode in force", "internal/compile/rule.go",
		"mode == v1alpha1.ModeShadow || rule", "mode == v1alpha1.ModeShadow && rule", compileTests, "TestTheWeakerModeIsInForce"},
	{"compile: a queue of any length", "internal/compile/limit.go",
		"if form.Algorithm == ruleset.LeakyBucket {", "if false {", compileTests, "TestInvalidFieldsAreNamedWithTheirMend"},
	{"compile: a field that is not enforced passed over", "internal/compile/notimplemented.go",
		`"spec.exempt":                        "exemptions are not implemented yet: remove it, and narrow matches instead",`, "",
		compileTests, "TestEveryFieldIsEnforcedOrRefused"},

	{"match: the kind of a key's source dropped", "internal/match/identity.go",
		"				content = appendField(content, string(source.Kind))\n				content = appendField(content, source.Name)\n				return appendField(content, value), partFound",
		"				return appendField(content, value), partFound", matchTests, "TestIdentitiesThatDiffer"},
	{"match: another case is another path", "internal/match/canonical.go",
		"path = foldCase(cutParameters(path))", "path = cutParameters(path)", matchTests, "TestEverySpellingMeetsTheRule"},
	{"match: escapes compared as they came", "internal/match/canonical.go",
		"		case isPathByte(c):\n			out.WriteByte(c)", "		case isPathByte(c) && !escaped:\n			out.WriteByte(c)", matchTests, "TestEverySpellingMeetsTheRule"},

	{"match: a shadow refuses who has no key", "internal/match/match.go",
		"ruleset.MissingDeny && rule.rule.Shadow:", "ruleset.MissingDeny && false:", matchTests, "TestShadowsRefuseNoRequestAsItIs"},
	{"match: a request that is free by its own word", "internal/match/cost.go",
		"most := int64(defaultCost)", "most := int64(0)", matchTests, "TestCostOfARequest"},
	{"match: a cost that overflows", "internal/match/cost.go",
		"number = min(number*10+int64(c-'0'), most)", "number = number*10 + int64(c-'0')", matchTests, "TestCostOfARequest"},

	{"proxy: a shadow refuses without a store", "internal/proxy/decide.go",
		"ruleset.FailDeny && !check.Shadow {", "ruleset.FailDeny {", proxyTests, "TestShadowsNeitherRefuseNorShow"},
	{"proxy: a shadow shows in answers", "internal/proxy/limitfields.go",
		"return state.Shadow || state.Source", "return state.Source", proxyTests, "TestShadowsNeitherRefuseNorShow"},
	{"proxy: a client that leaves tries for free", "internal/proxy/settlement.go",
		"case cost == nil || status == 0 || status == statusClientGone:", "case cost == nil:", proxyTests, "TestAClientThatLeavesTriesForNothing"},
	{"proxy: a place that is not given back", "internal/proxy/handler.go",
		"		owed.settle(writer)\n", "		_ = owed\n", proxyTests, "TestPlacesAreGivenBackOnEveryWayOut"},
	{"proxy: a turn that is not given back", "internal/proxy/handler.go",
		"		decision.Receipt.Cancel()\n", "", proxyTests, "TestAClientThatLeavesGivesItsTurnBack"},
	{"proxy: a draining pod that keeps requests waiting", "internal/proxy/turn.go",
		"	case <-s.drainBegun:\n		return true\n", "", proxyTests, "TestTheEndLetsWaitingRequestsGoOn"},
	{"proxy: buckets cut while others fill them", "internal/proxy/lowered.go",
		"from := now.Add(settleAfter)", "from := now", proxyTests, "TestBucketsThatWereLoweredAreSettled"},
	{"proxy: seconds rounded down", "internal/proxy/limitfields.go",
		"return int64((d-1)/time.Second) + 1", "return int64(d / time.Second)", proxyTests, "TestWholeSeconds"},
	{"proxy: a refusal without Retry-After", "internal/proxy/refusal.go",
		"if seconds > 0 {\n		header[", "if seconds < 0 {\n		header[", proxyTests, "TestRefusalByQuota"},
	{"proxy: a tunnel through an upgrade", "internal/proxy/upgrade.go",
		"upgrades && !isWebSocket(outbound)", "upgrades && false", proxyTests, "TestOnlyWebSocketUpgradePasses"},

	{"inject: a change without its guard", "internal/webhook/inject/patch.go",
		"	p.guard(path, before)\n	*p = append(*p, Operation{Op: \"replace\"", "	*p = append(*p, Operation{Op: \"replace\"", injectTests, "TestEveryChangeIsGuarded"},
	{"inject: privilege escalation allowed", "internal/webhook/inject/sidecar.go",
		"AllowPrivilegeEscalation: new(false)", "AllowPrivilegeEscalation: new(true)", injectTests, "TestInjectedPodIsRestricted"},
	{"inject: a probe sent to the sidecar's port", "internal/webhook/inject/renames.go",
		"p.replace(reference.path, reference.port.StrVal, number)", "_ = number", injectTests, "TestPodGolden"},
}
