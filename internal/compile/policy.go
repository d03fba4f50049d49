// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package compile

import (
	"cmp"
	"slices"

	metav1validation "k8s.io/apimachinery/pkg/apis/meta/v1/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/penstock-dev/penstock/api/v1alpha1"
	"github.com/penstock-dev/penstock/internal/ruleset"
)

// Bounds of lists and texts, as in the schema.
const (
	maxTargetRefs = 16
	maxRules      = 64
)

// spec is the path of the field that all findings are under.
var spec = field.NewPath("spec")

// compilePolicy compiles what a policy says, without its selectors and revision,
// and adds what is wrong with it. The form is of use only if nothing was added.
// A disabled policy has a form without rules.
func compilePolicy(policy *v1alpha1.RateLimitPolicy, found *findings) (*ruleset.Policy, *v1alpha1.EffectiveDefaults) {
	s := &policy.Spec
	defaults := &v1alpha1.EffectiveDefaults{}
	found.providers = providerNames(s.JWT)
	form := &ruleset.Policy{
		Kind:         KindRateLimitPolicy,
		Name:         policy.Name,
		Generation:   policy.Generation,
		ClientIP:     compileClientIP(s.ClientIP, found),
		PathMatching: ruleset.PathMatching(s.PathMatching),
		JWT:          compileJWT(s.JWT, found),
		Response:     compileResponse(s.Response, found),
		FirstMatch:   s.Evaluation == v1alpha1.EvaluationFirstMatch,
		Rules:        []ruleset.Rule{},
	}
	oneOf(found, spec.Child("evaluation"), string(s.Evaluation), "", "All", "FirstMatch")
	if s.PathMatching == "" {
		form.PathMatching = ruleset.PathLoose
		defaults.PathMatching = v1alpha1.PathMatchingLoose
	}
	form.Exempt = compileExempt(s.Exempt, form.PathMatching, found)
	oneOf(found, spec.Child("pathMatching"), string(s.PathMatching), "", "Loose", "Strict")
	oneOf(found, spec.Child("mode"), string(s.Mode), "", "Enforce", "Disabled", "Shadow")
	checkTargets(s, found)
	checkTargetScope(s, found)
	checkProviders(s, found)
	form.Rules = append(form.Rules, compileRules(s.Rules, s.Mode, form.PathMatching, defaults, found)...)
	return form, defaults
}

// checkTargets wants exactly one of targetRefs and selector.
func checkTargets(s *v1alpha1.RateLimitPolicySpec, found *findings) {
	refs, selector := spec.Child("targetRefs"), spec.Child("selector")
	switch {
	case len(s.TargetRefs) == 0 && s.Selector == nil:
		found.invalid(spec, "says nothing of which pods it is for: name workloads in targetRefs, or select pods in selector ({} selects all)")
	case len(s.TargetRefs) > 0 && s.Selector != nil:
		found.invalid(selector, "cannot stand beside targetRefs: remove one of them")
	}
	atMost(found, refs, len(s.TargetRefs), maxTargetRefs)
	seen := make(map[Target]bool)
	for i := range s.TargetRefs {
		checkTargetRef(&s.TargetRefs[i], refs.Index(i), found)
		target := targetOf(&s.TargetRefs[i])
		if seen[target] {
			found.invalid(refs.Index(i), "names the same target as an entry before it: remove it")
		}
		seen[target] = true
	}
	if s.Selector != nil {
		options := metav1validation.LabelSelectorValidationOptions{}
		for _, err := range metav1validation.ValidateLabelSelector(s.Selector, options, selector) {
			found.add(v1alpha1.Problem{Field: err.Field, Reason: v1alpha1.ReasonInvalid, Message: err.ErrorBody()})
		}
	}
}

func checkTargetRef(ref *v1alpha1.TargetReference, at *field.Path, found *findings) {
	isKnown := oneOf(found, at.Child("kind"), string(ref.Kind), "Deployment", "StatefulSet", "DaemonSet", "Service")
	if ref.Name == "" {
		found.invalid(at.Child("name"), "is empty: name a %s of this namespace", cmp.Or(ref.Kind, "workload"))
	}
	if !isKnown {
		return
	}
	group := "apps"
	if ref.Kind == v1alpha1.TargetService {
		group = ""
	}
	if ref.Group != group {
		found.invalid(at.Child("group"), "is %q, but %s is in group %q: write that", ref.Group, ref.Kind, group)
	}
	if ref.SectionName != "" && ref.Kind != v1alpha1.TargetService {
		found.invalid(at.Child("sectionName"), "is %q, but only a Service has named ports: remove it, or target the Service", ref.SectionName)
	}
}

func compileResponse(response *v1alpha1.PolicyResponse, found *findings) ruleset.Response {
	compiled := ruleset.Response{Headers: []ruleset.HeaderFamily{ruleset.HeadersRateLimit, ruleset.HeadersXRateLimit}}
	if response == nil {
		return compiled
	}
	at := spec.Child("response")
	oneOf(found, at.Child("onAllowed"), string(response.OnAllowed), "", "Include", "Omit")
	oneOf(found, at.Child("cors"), string(response.CORS), "", "None", "Echo")
	compiled.OmitOnAllowed = response.OnAllowed == v1alpha1.OnAllowedOmit
	compiled.EchoOrigin = response.CORS == v1alpha1.CORSEcho
	if len(response.Headers) > 0 {
		compiled.Headers = compileHeaders(response.Headers, at.Child("headers"), found)
	}
	return compiled
}

func compileHeaders(families []v1alpha1.HeaderFamily, at *field.Path, found *findings) []ruleset.HeaderFamily {
	var compiled []ruleset.HeaderFamily
	for i, family := range families {
		isKnown := oneOf(found, at.Index(i), string(family), "RateLimit", "XRateLimit", "Draft03", "None")
		switch {
		case !isKnown:
		case family == v1alpha1.HeadersNone:
			if len(families) > 1 {
				found.invalid(at.Index(i), "None cannot stand beside other families: remove one or the other")
			}
		case slices.Contains(compiled, ruleset.HeaderFamily(family)):
			found.invalid(at.Index(i), "%s is there twice: remove one", family)
		default:
			compiled = append(compiled, ruleset.HeaderFamily(family))
		}
	}
	return compiled
}
