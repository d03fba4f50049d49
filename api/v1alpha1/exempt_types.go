// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package v1alpha1

// Exempt lifts the rules of its own policy for requests that any entry matches.
// A path in a spelling that is not canonical is never exempt by its path.
// +kubebuilder:validation:MinProperties=1
type Exempt struct {
	// cidrs are addresses of clients (see clientIP) that are exempt. At most 256.
	// Absent: no address is exempt.
	// Example: [198.18.0.0/15].
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=256
	// +kubebuilder:validation:items:MinLength=1
	// +kubebuilder:validation:items:MaxLength=63
	// +kubebuilder:validation:items:XValidation:rule="isCIDR(self)",reason=FieldValueInvalid,message="write an address range such as 10.0.0.0/8, 192.0.2.7/32 or 2001:db8::/32"
	CIDRs []string `json:"cidrs,omitempty"`

	// paths are exempt paths, such as those of health checks. At most 32.
	// Absent: no path is exempt.
	// Example: [{type: Exact, value: /healthz}].
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=32
	Paths []PathMatch `json:"paths,omitempty"`

	// headers exempt requests that carry a secret. Only its hash is written here.
	// Several entries allow a change of the secret without a gap. At most 32.
	// Absent: none.
	// Example: [{name: X-Internal-Token, sha256: 9f86d081…}].
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=32
	Headers []ExemptHeader `json:"headers,omitempty"`

	// when are CEL expressions over the request; one that holds exempts. One that
	// fails does not exempt. At most 32, each of at most 1024 characters. Absent: none.
	// Example: ["request.method == 'OPTIONS'"].
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=32
	// +kubebuilder:validation:items:MinLength=1
	// +kubebuilder:validation:items:MaxLength=1024
	When []string `json:"when,omitempty"`
}

// ExemptHeader matches a header whose value has this hash.
type ExemptHeader struct {
	// name is the name of the header. Case does not matter. At most 63 characters.
	// Example: X-Internal-Token.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=63
	// +kubebuilder:validation:Pattern=`^[A-Za-z0-9!#$%&'*+.^_|~-]+$`
	Name string `json:"name"`

	// sha256 is the SHA-256 of the header's value: 64 hexadecimal digits in lower
	// case, as `printf %s "$TOKEN" | sha256sum` prints them.
	// Example: 9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08.
	// +required
	// +kubebuilder:validation:MinLength=64
	// +kubebuilder:validation:MaxLength=64
	// +kubebuilder:validation:Pattern=`^[0-9a-f]{64}$`
	SHA256 string `json:"sha256"`
}
