// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package compile

import (
	"strings"

	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/penstock-dev/penstock/api/v1alpha1"
	"github.com/penstock-dev/penstock/internal/ruleset"
)

const (
	maxTrustedCIDRs    = 32
	maxTrustedHops     = 32
	defaultTrustedHops = 1

	defaultIPv6PrefixLength = 64

	xForwardedFor = "x-forwarded-for"
)

func compileClientIP(clientIP *v1alpha1.ClientIP, found *findings) ruleset.ClientIP {
	compiled := ruleset.ClientIP{IPv6PrefixLength: defaultIPv6PrefixLength}
	if clientIP == nil {
		return compiled
	}
	at := spec.Child("clientIP")
	isKnown := oneOf(found, at.Child("source"), string(clientIP.Source), "", "Peer", "XForwardedFor", "Header")
	if length := clientIP.IPv6PrefixLength; length != nil {
		if *length < 1 || *length > 128 {
			found.invalid(at.Child("ipv6PrefixLength"), "is %d: write how many bits of an IPv6 address are one client, from 1 to 128", *length)
		}
		compiled.IPv6PrefixLength = int(*length)
	}
	if !isKnown {
		// Which of the other fields have an effect depends on the source that is meant.
		return compiled
	}
	compiled.Header = clientHeader(clientIP, at.Child("headerName"), found)
	if compiled.Header == "" {
		checkPeerReadsNoHeader(clientIP, at, found)
		return compiled
	}
	compiled.TrustedHops = trustedHops(clientIP.TrustedHops, at.Child("trustedHops"), found)
	trusted := at.Child("trustedCIDRs")
	if len(clientIP.TrustedCIDRs) == 0 {
		found.invalid(trusted, "is empty, so anyone could forge the header: write the addresses of the proxies that write it")
	}
	atMost(found, trusted, len(clientIP.TrustedCIDRs), maxTrustedCIDRs)
	warnOfEveryone(clientIP.TrustedCIDRs, v1alpha1.ReasonTrustsEveryone, trusted, found,
		"so that whoever connects with one is believed, and may choose the address that is counted: name the addresses of the proxies that write the header")
	compiled.TrustedCIDRs = compileCIDRs(clientIP.TrustedCIDRs, trusted, found)
	return compiled
}

// clientHeader is the header that tells the client's address; empty for the peer.
func clientHeader(clientIP *v1alpha1.ClientIP, at *field.Path, found *findings) string {
	name := clientIP.HeaderName
	if clientIP.Source != v1alpha1.ClientIPHeader {
		if name != "" {
			found.invalid(at, "is read only with source Header: set that, or remove headerName")
		}
		if clientIP.Source == v1alpha1.ClientIPXForwardedFor {
			return xForwardedFor
		}
		return ""
	}
	switch {
	case !headerName.MatchString(name) || len(name) > maxHeaderName:
		found.invalid(at, "%q is not the name of a header: write that of the header with the client's address, such as CF-Connecting-IP", name)
	case strings.EqualFold(name, "Forwarded"):
		found.invalid(at, "Forwarded holds more than addresses and is not read: have the proxy write X-Forwarded-For, and set source: XForwardedFor")
	}
	return strings.ToLower(name)
}

func checkPeerReadsNoHeader(clientIP *v1alpha1.ClientIP, at *field.Path, found *findings) {
	const mend = "has no effect with source Peer, which reads no header: set source to XForwardedFor or Header, or remove it"
	if clientIP.TrustedHops != nil {
		found.invalid(at.Child("trustedHops"), mend)
	}
	if len(clientIP.TrustedCIDRs) > 0 {
		found.invalid(at.Child("trustedCIDRs"), mend)
	}
}

func trustedHops(hops *int32, at *field.Path, found *findings) int {
	if hops == nil {
		return defaultTrustedHops
	}
	if *hops < 1 || *hops > maxTrustedHops {
		found.invalid(at, "is %d: write how many proxies append to the header, from 1 to %d", *hops, maxTrustedHops)
	}
	return int(*hops)
}
