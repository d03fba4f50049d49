// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package compile

import (
	"regexp"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/penstock-dev/penstock/api/v1alpha1"
	"github.com/penstock-dev/penstock/internal/ruleset"
)

const (
	maxExemptCIDRs = 256
	maxExempt      = 32
)

// sha256OfNothing is what is printed for an empty secret.
const sha256OfNothing = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"

var sha256Hex = regexp.MustCompile("^[0-9a-f]{64}$")

func compileExempt(exempt *v1alpha1.Exempt, matching ruleset.PathMatching, found *findings) *ruleset.Exempt {
	if exempt == nil {
		return nil
	}
	at := spec.Child("exempt")
	if len(exempt.CIDRs)+len(exempt.Paths)+len(exempt.Headers)+len(exempt.When) == 0 {
		found.invalid(at, "exempts nothing: write cidrs, paths, headers or when, or remove exempt")
	}
	cidrs, paths := at.Child("cidrs"), at.Child("paths")
	atMost(found, cidrs, len(exempt.CIDRs), maxExemptCIDRs)
	atMost(found, paths, len(exempt.Paths), maxExempt)
	warnOfEveryone(exempt.CIDRs, v1alpha1.ReasonExemptsEveryone, cidrs, found,
		"so that no client with one is limited by this policy: name the ranges that are to be exempt, or write mode: Disabled if nobody is to be limited")
	compiled := &ruleset.Exempt{
		CIDRs:   compileCIDRs(exempt.CIDRs, cidrs, found),
		Headers: compileExemptHeaders(exempt.Headers, at.Child("headers"), found),
		When:    compileWhen(exempt.When, maxExempt, at.Child("when"), found),
	}
	for i := range exempt.Paths {
		if path := compilePath(&exempt.Paths[i], matching, paths.Index(i), found); path != nil {
			compiled.Paths = append(compiled.Paths, *path)
		}
	}
	return compiled
}

func compileExemptHeaders(headers []v1alpha1.ExemptHeader, at *field.Path, found *findings) []ruleset.ExemptHeader {
	atMost(found, at, len(headers), maxExempt)
	var compiled []ruleset.ExemptHeader
	for i, header := range headers {
		entry := at.Index(i)
		if !headerName.MatchString(header.Name) || len(header.Name) > maxHeaderName {
			found.invalid(entry.Child("name"), "%q is not the name of a header: write one such as X-Internal-Token", header.Name)
		}
		if header.SHA256 == sha256OfNothing {
			found.invalid(entry.Child("sha256"), "is the hash of the empty text, so that whoever sends the header without a value would be exempt: was the variable with the secret empty?")
		}
		if !sha256Hex.MatchString(header.SHA256) {
			// What stands here may be the secret itself, so the message does not repeat it.
			found.invalid(entry.Child("sha256"), "is not a SHA-256: write 64 hexadecimal digits in lower case, as printf %%s \"$TOKEN\" | sha256sum prints them")
		}
		compiled = append(compiled, ruleset.ExemptHeader{Name: strings.ToLower(header.Name), SHA256: header.SHA256})
	}
	return compiled
}
