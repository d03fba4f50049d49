// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import "slices"

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
	tokenTests       = "./internal/match/token"
	proxyTests       = "./internal/proxy"
	compileTests     = "./internal/compile"
	injectTests      = "./internal/webhook/inject"
	controllersTests = "./controllers"
)

// faults are all that are seeded.
var faults = slices.Concat(limiterFaults, otherFaults)

var otherFaults = []fault{
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
		`"spec": "policies of the cluster are not implemented yet: write a RateLimitPolicy in each namespace",`, "",
		compileTests, "TestEveryFieldIsEnforcedOrRefused"},

	{"match: the kind of a key's source dropped", "internal/match/identity.go",
		"			content = appendField(content, string(source.Kind))\n			content = appendField(content, source.Name)\n			return appendField(content, value), partFound",
		"			return appendField(content, value), partFound", matchTests, "TestIdentitiesThatDiffer"},
	{"match: anybody may tell who they are", "internal/match/clientsource.go",
		"!peer.IsValid() || !s.trusted.Contains(peer.WithZone(\"\").Unmap())", "!peer.IsValid()", matchTests, "TestAddressTable"},
	{"match: the leftmost address believed", "internal/match/forwarded.go",
		"strings.LastIndexByte(list, ',')", "strings.IndexByte(list, ',')", matchTests, "TestAddressTable"},
	{"match: an exemption for odd spellings", "internal/match/exempt.go",
		"if !paths.canonical || paths.known == nil {", "if paths.known == nil {", matchTests, "TestExemptions"},
	{"match: a second cookie passed over", "internal/match/keysource.go",
		"if o.given && value != o.value {", "if false {", matchTests, "TestCookieValue"},
	{"match: another case is another path", "internal/match/canonical.go",
		"path = foldCase(cutParameters(path))", "path = cutParameters(path)", matchTests, "TestPathTable"},
	{"match: escapes compared as they came", "internal/match/canonical.go",
		"		case isPathByte(c):\n			out.WriteByte(c)", "		case isPathByte(c) && !escaped:\n			out.WriteByte(c)", matchTests, "TestPathTable"},

	{"match: a shadow refuses who has no key", "internal/match/match.go",
		"case shadow:", "case false:", matchTests, "TestShadowsRefuseNoRequestAsItIs"},
	{"match: a forged header believed", "internal/match/clientsource.go",
		" || !s.trusted.Contains(peer.WithZone(\"\").Unmap()) {", " {", matchTests, "TestAddressTable"},
	{"match: an unlimited tier for odd spellings", "internal/match/tier.go",
		"if len(tier.Limits) == 0 && !paths.canonical {", "if false {", matchTests, "TestTiers"},
	{"match: a key that only some apps find", "internal/match/query.go",
		"only.given && !sure", "false", matchTests, "TestKeysAndExpressionsReadAQueryAlike"},
	{"match: a query read in one way by expressions", "internal/match/request.go",
		"program.LooksAtQuery() && strings.Contains(r.query(), \";\")", "false", matchTests, "TestExpressionsOfAQueryThatIsPartedInTwoWays"},
	{"match: an unlimited tier that asks for a key", "internal/match/identity.go",
		"limited && part.OnMissing == ruleset.MissingDeny", "part.OnMissing == ruleset.MissingDeny", matchTests, "TestAnUnlimitedTierNeedsNoKey"},
	{"match: the host looked up as a field", "internal/match/valueindex.go",
		"isExact(c) && c.name != hostHeader", "isExact(c)", matchTests, "TestTheIndexFindsWhatAskingEachRuleFinds"},
	{"match: many values, and only some looked up", "internal/match/valueindex.go",
		"		v.count++\n	default:", "	default:", matchTests, "TestTheIndexLeavesOutOtherValues"},
	{"match: the first match ends odd spellings, too", "internal/match/match.go",
		"policy.policy.FirstMatch && turn.paths.canonical && !how.inDoubt", "policy.policy.FirstMatch", matchTests, "TestFirstMatch"},
	{"match: the first of several tokens hides the others", "internal/match/claims.go",
		"		found.disbelieved.add(text, err)\n	}", "		found.disbelieved.add(text, err)\n		break\n	}",
		matchTests, "TestTokensAreTriedInOrder"},
	{"match: a token unverified that another provider verified", "internal/match/unverified.go",
		"return !p.verify(r, r.bearingOf(named.provider).disbelieved.text)", "return true", matchTests, "TestWhyTokensAreNotVerified"},
	{"match: more tokens than are tried are none", "internal/match/borne.go",
		"		b.ambiguous = true\n	default:", "	default:", matchTests, "TestTokensAreTriedInOrder"},
	{"token: what is critical passed over", "internal/match/token/parse.go",
		"for _, critical := range []string{\"crit\", \"b64\"} {", "for _, critical := range []string{} {", tokenTests, "TestHostileTokens"},
	{"proxy: a WebSocket that no rule sees", "internal/proxy/view.go",
		"return header[\"Upgrade\"][:1]", "return nil", proxyTests, "TestRulesSeeTheFieldsThatTheAppSees"},
	{"proxy: the app's own host unseen by rules", "internal/proxy/view.go",
		"cmp.Or(v.request.Host, v.appHost)", "cmp.Or(v.request.Host, \"\")", proxyTests, "TestRulesSeeTheHostThatTheAppSees"},
	{"proxy: everybody can say that the peer is a proxy", "internal/proxy/peersightings.go",
		"if !isNear(peerOf(request)) {", "if !peerOf(request).IsValid() {", proxyTests, "TestProxyFieldOf"},
	{"proxy: any text sent back as origin", "internal/proxy/cors.go",
		"return found && len(value) <= maxOrigin && hasOnly(scheme, \"+-.\") && hasOnly(authority, \"-._~%:[]\")", "return found && scheme+authority != \"\"", proxyTests, "TestOnlyOriginsAreSentBack"},
	{"match: a request that is free by its own word", "internal/match/cost.go",
		"most := int64(defaultCost)", "most := int64(0)", matchTests, "TestCostOfARequest"},
	{"match: a cost that overflows", "internal/match/cost.go",
		"number = min(number*10+int64(c-'0'), most)", "number = number*10 + int64(c-'0')", matchTests, "TestCostOfARequest"},

	{"proxy: a shadow refuses without a store", "internal/proxy/decide.go",
		"ruleset.FailDeny && !check.Shadow {", "ruleset.FailDeny {", proxyTests, "TestShadowsNeitherRefuseNorShow"},
	{"proxy: a shadow shows in answers", "internal/proxy/limitfields.go",
		"return state.Shadow && !state.Drawn || state.Source", "return state.Source", proxyTests, "TestShadowsNeitherRefuseNorShow"},
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
