// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package compile

import (
	"regexp"
	"unicode/utf8"

	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/penstock-dev/penstock/api/v1alpha1"
	"github.com/penstock-dev/penstock/internal/ruleset"
)

const (
	defaultRefusalStatus = 429
	minRefusalStatus     = 400
	maxRefusalStatus     = 599
	maxBody              = 4096
	maxContentType       = 256
)

// contentType is a media type with parameters, as in the schema.
var contentType = regexp.MustCompile(`^[A-Za-z0-9!#$&^_.+-]+/[A-Za-z0-9!#$&^_.+-]+( *;[ -~]+)?$`)

// compileRefusal compiles how a rule refuses; nil is the usual way.
func compileRefusal(response *v1alpha1.RuleResponse, at *field.Path, found *findings) *ruleset.Refusal {
	if response == nil {
		return nil
	}
	form := ruleset.Refusal{StatusCode: defaultRefusalStatus}
	if code := response.StatusCode; code != nil {
		if *code < minRefusalStatus || *code > maxRefusalStatus {
			found.invalid(at.Child("statusCode"), "is %d: a refusal is an error, so write a status code from %d to %d", *code, minRefusalStatus, maxRefusalStatus)
		}
		form.StatusCode = int(*code)
	}
	if response.Body != nil {
		form.Body = compileBody(response.Body, at.Child("body"), found)
	}
	if form == (ruleset.Refusal{StatusCode: defaultRefusalStatus}) {
		return nil
	}
	return &form
}

func compileBody(body *v1alpha1.ResponseBody, at *field.Path, found *findings) *ruleset.Body {
	if !contentType.MatchString(body.ContentType) || len(body.ContentType) > maxContentType {
		found.invalid(at.Child("contentType"), "%q is not a content type: write one such as application/json", body.ContentType)
	}
	if length := utf8.RuneCountInString(body.Value); length > maxBody {
		found.invalid(at.Child("value"), "has %d characters, at most %d are allowed: shorten it", length, maxBody)
	}
	return &ruleset.Body{ContentType: body.ContentType, Value: body.Value}
}
