// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package v1alpha1

// PolicyResponse says what answers tell about limits.
type PolicyResponse struct {
	// headers are the families of header fields that tell about limits.
	// RateLimit: RateLimit and RateLimit-Policy, of the IETF draft. XRateLimit:
	// X-RateLimit-Limit, -Remaining and -Reset. Draft03: RateLimit-Limit,
	// -Remaining and -Reset, of an older draft. None: none of them; it stands
	// alone. Absent means [RateLimit, XRateLimit]. Retry-After is always sent with
	// a refusal that ends by itself.
	// Example: [RateLimit].
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=4
	// +kubebuilder:validation:XValidation:rule="!('None' in self) || self.size() == 1",reason=FieldValueInvalid,message="None stands alone: remove None, or the other families"
	// +kubebuilder:validation:XValidation:rule="self.all(x, self.exists_one(y, y == x))",reason=FieldValueInvalid,message="a family is named twice: remove one of them"
	Headers []HeaderFamily `json:"headers,omitempty"`

	// onAllowed says whether admitted answers carry the header fields too: Include
	// or Omit. Absent means Include.
	// Example: Omit.
	// +optional
	OnAllowed OnAllowed `json:"onAllowed,omitempty"`

	// cors says whether scripts of other origins can read refusals. Echo: refusals
	// carry the request's Origin back, and preflight requests (OPTIONS with Origin and
	// Access-Control-Request-Method) are never counted, also those that no browser
	// sent. Admitted answers are the app's to open to scripts. Absent means None.
	// Example: Echo.
	// +optional
	CORS CORS `json:"cors,omitempty"`
}

// HeaderFamily is a set of header fields that tell about limits.
// +kubebuilder:validation:Enum=RateLimit;XRateLimit;Draft03;None
type HeaderFamily string

// Families of header fields.
const (
	HeadersRateLimit  HeaderFamily = "RateLimit"
	HeadersXRateLimit HeaderFamily = "XRateLimit"
	HeadersDraft03    HeaderFamily = "Draft03"
	HeadersNone       HeaderFamily = "None"
)

// OnAllowed says whether admitted answers carry the fields.
// +kubebuilder:validation:Enum=Include;Omit
type OnAllowed string

// Choices for admitted answers.
const (
	OnAllowedInclude OnAllowed = "Include"
	OnAllowedOmit    OnAllowed = "Omit"
)

// CORS says whether refusals can be read by browsers.
// +kubebuilder:validation:Enum=None;Echo
type CORS string

// Choices for CORS.
const (
	CORSNone CORS = "None"
	CORSEcho CORS = "Echo"
)

// RuleResponse is how a rule's refusal looks: over its limits, and where a part of its
// key is missing. The 503 of onStoreFailure Deny and answers to gRPC stay as they are.
type RuleResponse struct {
	// statusCode is the status of a refusal, 400 to 599. Absent means 429.
	// Example: 503.
	// +optional
	// +kubebuilder:validation:Minimum=400
	// +kubebuilder:validation:Maximum=599
	StatusCode *int32 `json:"statusCode,omitempty"`

	// body is the body of a refusal; an answer to HEAD has none. Absent:
	// application/problem+json (RFC 9457) that names the exceeded limit.
	// +optional
	Body *ResponseBody `json:"body,omitempty"`
}

// ResponseBody is the body of a refusal.
type ResponseBody struct {
	// contentType is the value of the header Content-Type.
	// Example: application/json.
	// +required
	// +kubebuilder:validation:MinLength=3
	// +kubebuilder:validation:MaxLength=256
	// +kubebuilder:validation:Pattern=`^[A-Za-z0-9!#$&^_.+-]+/[A-Za-z0-9!#$&^_.+-]+( *;[ -~]+)?$`
	ContentType string `json:"contentType"`

	// value is the body as it is sent, of at most 4096 characters.
	// Example: '{"error":"slow down"}'.
	// +required
	// +kubebuilder:validation:MaxLength=4096
	Value string `json:"value"`
}
