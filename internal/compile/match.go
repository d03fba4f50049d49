// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package compile

import (
	"regexp"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/penstock-dev/penstock/api/v1alpha1"
	"github.com/penstock-dev/penstock/internal/match"
	"github.com/penstock-dev/penstock/internal/ruleset"
)

// Bounds of a match, as in the schema.
const (
	maxMatches     = 8
	maxMethods     = 32
	maxHosts       = 16
	maxHost        = 253
	maxHeaders     = 8
	maxQueryParams = 8
	maxQueryName   = 63
	maxPath        = 512
	maxValue       = 256
)

var (
	// hostName is a name as the schema has it: labels, perhaps with "*." before them.
	hostName  = regexp.MustCompile(`^(\*\.)?[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$`)
	queryName = regexp.MustCompile(`^\S+$`)
)

func compileMatch(m *v1alpha1.Match, matching ruleset.PathMatching, at *field.Path, found *findings) ruleset.Match {
	compiled := ruleset.Match{Methods: m.Methods, Hosts: m.Hosts}
	methods := at.Child("methods")
	atMost(found, methods, len(m.Methods), maxMethods)
	for i, method := range m.Methods {
		if !methodName.MatchString(method) || len(method) > maxMethod {
			found.invalid(methods.Index(i), "%q is not a method: write one in upper case, such as GET", method)
		}
	}
	hosts := at.Child("hosts")
	atMost(found, hosts, len(m.Hosts), maxHosts)
	for i, host := range m.Hosts {
		if !hostName.MatchString(host) || len(host) > maxHost {
			found.invalid(hosts.Index(i), "%q is not a host: write a name in lower case without a port, such as shop.example.com, or *.example.com for all below it", host)
		}
	}
	if m.Path != nil {
		compiled.Path = compilePath(m.Path, matching, at.Child("path"), found)
	}
	headers := at.Child("headers")
	atMost(found, headers, len(m.Headers), maxHeaders)
	for i := range m.Headers {
		compiled.Headers = append(compiled.Headers, compileHeader(&m.Headers[i], headers.Index(i), found))
	}
	query := at.Child("queryParams")
	atMost(found, query, len(m.QueryParams), maxQueryParams)
	for i := range m.QueryParams {
		compiled.QueryParams = append(compiled.QueryParams, compileQueryParam(&m.QueryParams[i], query.Index(i), found))
	}
	if m.Path == nil && len(m.Methods)+len(m.Hosts)+len(m.Headers)+len(m.QueryParams) == 0 {
		found.invalid(at, "is empty and would match every request: say what it matches, or remove matches")
	}
	return compiled
}

func compilePath(path *v1alpha1.PathMatch, matching ruleset.PathMatching, at *field.Path, found *findings) *ruleset.PathMatch {
	isKnown := oneOf(found, at.Child("type"), string(path.Type), "", "Exact", "PathPrefix", "Template", "RegularExpression")
	compiled := &ruleset.PathMatch{Type: ruleset.PathMatchType(path.Type), Value: path.Value}
	if path.Type == "" {
		compiled.Type = ruleset.PathPrefix
	}
	if mend := urlMend(path.Value); mend != "" {
		found.invalid(at.Child("value"), "%s", mend)
		return compiled
	}
	var err error
	switch {
	case !isKnown:
		return compiled
	case len(path.Value) > maxPath:
		found.invalid(at.Child("value"), "has %d characters, at most %d are allowed: shorten it", len(path.Value), maxPath)
		return compiled
	case path.Value == "":
		found.invalid(at.Child("value"), "is empty: write a path from the root, such as /login")
		return compiled
	case path.Type == v1alpha1.PathMatchRegularExpression:
		err = match.CheckPathExpression(path.Value, matching)
	case path.Type == v1alpha1.PathMatchTemplate:
		compiled.Value, err = match.CanonicalTemplate(path.Value, matching)
	default:
		compiled.Value, err = match.CanonicalPattern(path.Value, matching)
	}
	written := &ruleset.PathMatch{Type: compiled.Type, Value: path.Value}
	if err == nil {
		warnOfLiterals(written, at.Child("value"), found)
		return compiled
	}
	message := err.Error()
	if mend := literalsMend(written); mend != "" {
		message += "; nothing in it stands for other characters: " + mend
	}
	found.invalid(at.Child("value"), "%s", message)
	return compiled
}

func compileHeader(header *v1alpha1.HeaderMatch, at *field.Path, found *findings) ruleset.ValueMatch {
	if !headerName.MatchString(header.Name) || len(header.Name) > maxHeaderName {
		found.invalid(at.Child("name"), "%q is not the name of a header: write one such as X-Env", header.Name)
	}
	name := strings.ToLower(header.Name)
	compiled := compileValue(name, header.Type, header.Value, at, found)
	if name == "host" && compiled.Type == ruleset.ValueExact && !hostName.MatchString(header.Value) {
		found.invalid(at.Child("value"), "%q is never the host, which is compared in lower case without a port: write such a name, or use hosts", header.Value)
	}
	return compiled
}

func compileQueryParam(param *v1alpha1.QueryParamMatch, at *field.Path, found *findings) ruleset.ValueMatch {
	if !queryName.MatchString(param.Name) || len(param.Name) > maxQueryName {
		found.invalid(at.Child("name"), "%q is not the name of a query parameter: write at most %d characters without white space, decoded", param.Name, maxQueryName)
	}
	return compileValue(param.Name, param.Type, param.Value, at, found)
}

// compileValue wants a value with the types that look at one, and with no other.
func compileValue(name string, kind v1alpha1.ValueMatchType, value string, at *field.Path, found *findings) ruleset.ValueMatch {
	isKnown := oneOf(found, at.Child("type"), string(kind), "", "Exact", "RegularExpression", "Present", "Absent")
	compiled := ruleset.ValueMatch{Name: name, Type: ruleset.ValueMatchType(kind), Value: value}
	if kind == "" {
		compiled.Type = ruleset.ValueExact
	}
	at = at.Child("value")
	switch looks := compiled.Type == ruleset.ValueExact || compiled.Type == ruleset.ValueRegularExpression; {
	case !isKnown:
	case looks && value == "":
		found.invalid(at, "is empty: write what the value must be, or type: Present")
	case !looks && value != "":
		found.invalid(at, "has no effect with type %s: remove it, or write type: Exact", kind)
	case compiled.Type == ruleset.ValueRegularExpression:
		if _, err := match.CompileRegularExpression(value, false); err != nil {
			found.invalid(at, "%v", err)
		}
	case len(value) > maxValue:
		found.invalid(at, "has %d characters, at most %d are allowed: shorten it, or match a part of it with type: RegularExpression", len(value), maxValue)
	}
	return compiled
}
