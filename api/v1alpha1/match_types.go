// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package v1alpha1

// Match is one alternative of a rule's matches: all that it names must hold.
// +kubebuilder:validation:MinProperties=1
type Match struct {
	// path is what the request's path must be. Absent: any path.
	// Example: {type: PathPrefix, value: /api}.
	// +optional
	Path *PathMatch `json:"path,omitempty"`

	// methods are the methods of which the request must have one, in capitals. At
	// most 32. Absent: any method.
	// Example: [POST, PUT].
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=32
	// +kubebuilder:validation:items:MinLength=1
	// +kubebuilder:validation:items:MaxLength=63
	// +kubebuilder:validation:items:Pattern=`^[A-Z][A-Z0-9_-]*$`
	Methods []string `json:"methods,omitempty"`

	// hosts are the hosts of which the request must be for one: names in lower case
	// without a port, where *. at the start stands for one or more labels. At most
	// 16. Absent: any host.
	// Example: ["*.example.com"].
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=16
	// +kubebuilder:validation:items:MinLength=1
	// +kubebuilder:validation:items:MaxLength=253
	// +kubebuilder:validation:items:Pattern=`^(\*\.)?[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$`
	Hosts []string `json:"hosts,omitempty"`

	// headers are conditions on request headers, which must all hold. At most 8.
	// Absent: none.
	// Example: [{name: X-Env, value: prod}].
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=8
	Headers []HeaderMatch `json:"headers,omitempty"`

	// queryParams are conditions on query parameters, which must all hold. At most
	// 8. Absent: none.
	// Example: [{name: debug, type: Absent}].
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=8
	QueryParams []QueryParamMatch `json:"queryParams,omitempty"`
}

// PathMatch matches a path in canonical form: escapes, doubled slashes and dot
// segments are resolved before.
//
// +kubebuilder:validation:XValidation:rule="(has(self.type) && self.type == 'RegularExpression') || self.value.startsWith('/')",reason=FieldValueInvalid,fieldPath=.value,message="a path starts with /: write it from the root, such as /login"
// +kubebuilder:validation:XValidation:rule="(has(self.type) && self.type == 'RegularExpression') || !(self.value.contains('?') || self.value.contains('#'))",reason=FieldValueInvalid,fieldPath=.value,message="a path has no ? and no #: end it there, and match parameters with queryParams"
// +kubebuilder:validation:XValidation:rule="!(has(self.type) && self.type == 'Template') || self.value.matches('^(/([^/{}]*|[{][A-Za-z0-9_-]{1,63}[}]))+$')",reason=FieldValueInvalid,fieldPath=.value,message="a template's parameter is a whole segment, such as /users/{id}: name it with letters, digits, _ and -"
// +kubebuilder:validation:XValidation:rule="(has(self.type) && self.type in ['Template', 'RegularExpression']) || !self.value.contains('{')",reason=FieldValueInvalid,fieldPath=.value,message="{ is read only in templates: set type: Template, or write %7B"
type PathMatch struct {
	// type says how the path is compared. Exact: the whole path. PathPrefix: its
	// first segments, so that /api matches /api and /api/users, not /apix.
	// Template: segment by segment, where {name} stands for any one that is not empty.
	// RegularExpression (RE2): the whole path in canonical form. Absent means
	// PathPrefix.
	// Example: Exact.
	// +optional
	Type PathMatchType `json:"type,omitempty"`

	// value is the path or pattern, of at most 512 characters. It starts with /
	// unless it is a regular expression.
	// Example: /users/{id}.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=512
	Value string `json:"value"`
}

// PathMatchType says how a path is compared.
// +kubebuilder:validation:Enum=Exact;PathPrefix;Template;RegularExpression
type PathMatchType string

// Ways to compare a path.
const (
	PathMatchExact             PathMatchType = "Exact"
	PathMatchPathPrefix        PathMatchType = "PathPrefix"
	PathMatchTemplate          PathMatchType = "Template"
	PathMatchRegularExpression PathMatchType = "RegularExpression"
)

// ValueMatchType says how a header's or a query parameter's value is compared.
// +kubebuilder:validation:Enum=Exact;RegularExpression;Present;Absent
type ValueMatchType string

// Ways to compare a value.
const (
	ValueMatchExact             ValueMatchType = "Exact"
	ValueMatchRegularExpression ValueMatchType = "RegularExpression"
	ValueMatchPresent           ValueMatchType = "Present"
	ValueMatchAbsent            ValueMatchType = "Absent"
)

// HeaderMatch matches a request header.
//
// +kubebuilder:validation:XValidation:rule="!has(self.value) || !(has(self.type) && self.type in ['Present', 'Absent'])",reason=FieldValueForbidden,fieldPath=.value,message="Present and Absent look at no value: remove value, or set type: Exact"
// +kubebuilder:validation:XValidation:rule="has(self.value) || (has(self.type) && self.type in ['Present', 'Absent'])",reason=FieldValueRequired,fieldPath=.value,message="say what the value must be: set value, or type: Present"
// +kubebuilder:validation:XValidation:rule="!has(self.value) || (has(self.type) && self.type == 'RegularExpression') || self.value.size() <= 256",reason=FieldValueInvalid,fieldPath=.value,message="a value has at most 256 characters: shorten it, or match a part of it with type: RegularExpression"
type HeaderMatch struct {
	// name is the name of the header. Case does not matter. At most 63 characters.
	// Example: X-Env.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=63
	// +kubebuilder:validation:Pattern=`^[A-Za-z0-9!#$%&'*+.^_|~-]+$`
	Name string `json:"name"`

	// type says how the value is compared. Exact: equal. RegularExpression (RE2):
	// the whole value matches. Present, Absent: the header is there or not. Of several
	// values, any one may be it, or all of them joined with a comma. Absent means Exact.
	// Example: Present.
	// +optional
	Type ValueMatchType `json:"type,omitempty"`

	// value is the value, of at most 256 characters, or the regular expression, of
	// at most 512. Not with type Present and Absent.
	// Example: prod.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=512
	Value string `json:"value,omitempty"`
}

// QueryParamMatch matches a query parameter.
//
// +kubebuilder:validation:XValidation:rule="!has(self.value) || !(has(self.type) && self.type in ['Present', 'Absent'])",reason=FieldValueForbidden,fieldPath=.value,message="Present and Absent look at no value: remove value, or set type: Exact"
// +kubebuilder:validation:XValidation:rule="has(self.value) || (has(self.type) && self.type in ['Present', 'Absent'])",reason=FieldValueRequired,fieldPath=.value,message="say what the value must be: set value, or type: Present"
// +kubebuilder:validation:XValidation:rule="!has(self.value) || (has(self.type) && self.type == 'RegularExpression') || self.value.size() <= 256",reason=FieldValueInvalid,fieldPath=.value,message="a value has at most 256 characters: shorten it, or match a part of it with type: RegularExpression"
type QueryParamMatch struct {
	// name is the name of the parameter, decoded. Case matters. At most 63
	// characters, no white space.
	// Example: debug.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=63
	// +kubebuilder:validation:Pattern=`^\S+$`
	Name string `json:"name"`

	// type says how the value is compared. Exact: equal. RegularExpression (RE2):
	// the whole value matches. Present, Absent: the parameter is there or not. Of
	// several values, any one may be it, or all of them joined with a comma. What apps
	// read in different ways holds in each. Absent means Exact.
	// Example: Absent.
	// +optional
	Type ValueMatchType `json:"type,omitempty"`

	// value is the value, of at most 256 characters, or the regular expression, of
	// at most 512. Not with type Present and Absent.
	// Example: "1".
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=512
	Value string `json:"value,omitempty"`
}
