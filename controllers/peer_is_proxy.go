// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package controllers

import (
	"fmt"
	"slices"

	"github.com/penstock-dev/penstock/api/v1alpha1"
	"github.com/penstock-dev/penstock/internal/ruleset"
)

// maxProblems is how many problems a status may hold.
const maxProblems = 32

// peerIsProxy is the warning that pods saw requests of a policy, in the form of its last
// change, come through a proxy that it takes for the client; nil if none did.
func peerIsProxy(pods []podView, selectors []ruleset.Selector, policy string, changedAt int64, acks ackView) *v1alpha1.Problem {
	for _, pod := range pods {
		ack, acknowledged := acks.acks[pod.uid]
		field, seen := ack.PeerIsProxy[policy]
		if !seen || !acknowledged || !pod.injected || acks.silent(pod) || !acks.enforces(ack, changedAt) || !selects(selectors, pod.labels) {
			continue
		}
		return &v1alpha1.Problem{
			Field:  "spec.clientIP",
			Reason: v1alpha1.ReasonPeerIsProxy,
			Message: fmt.Sprintf("takes the peer for the client, but pod %s was sent requests with %s from a private address, as a proxy sends them: "+
				"all clients of that proxy count as one; %s, and trustedHops to how many proxies append to the header", pod.name, shownField(field), mendPeerIsProxy(field)),
		}
	}
	return nil
}

// mendPeerIsProxy says how a policy is to read the address of a proxy's client.
func mendPeerIsProxy(field string) string {
	const trust = "trustedCIDRs to the proxy's addresses"
	switch field {
	case "X-Forwarded-For":
		return "set source to XForwardedFor, " + trust
	case "X-Real-Ip":
		return "set source to Header, headerName to X-Real-IP, " + trust
	default: // they tell no address, or Forwarded, which is not read
		return "have the proxy write X-Forwarded-For, and set source to XForwardedFor, " + trust
	}
}

// knownFields are those that a sidecar tells of. Others were written by nobody that
// should, and are not repeated.
var knownFields = []string{"X-Forwarded-For", "Forwarded", "X-Forwarded-Host", "X-Forwarded-Proto"}

func shownField(field string) string {
	switch {
	case field == "X-Real-Ip":
		return "X-Real-IP"
	case slices.Contains(knownFields, field):
		return field
	default:
		return "the header of a proxy"
	}
}

func isPeerIsProxy(problem v1alpha1.Problem) bool {
	return problem.Reason == v1alpha1.ReasonPeerIsProxy
}

// withPeerIsProxy are the problems of an assessment and the warning, where there is room.
// While acks cannot be read the warning stays as it was.
func withPeerIsProxy(a assessment, before []v1alpha1.Problem) []v1alpha1.Problem {
	problems, warning := slices.Clip(a.result.Problems), a.peerIsProxy
	if at := slices.IndexFunc(before, isPeerIsProxy); at >= 0 && a.storeError != nil {
		warning = &before[at]
	}
	if warning == nil || len(problems) >= maxProblems {
		return problems
	}
	return append(problems, *warning)
}
