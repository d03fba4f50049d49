// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package v1alpha1

// ClientIP says where the client's address comes from. What a header says is
// believed only if the connection comes from trustedCIDRs.
//
// +kubebuilder:validation:XValidation:rule="!(has(self.source) && self.source == 'Header') || has(self.headerName)",reason=FieldValueRequired,fieldPath=.headerName,message="source Header needs headerName: name the header that holds the client's address, such as CF-Connecting-IP"
// +kubebuilder:validation:XValidation:rule="!has(self.headerName) || (has(self.source) && self.source == 'Header')",reason=FieldValueForbidden,fieldPath=.headerName,message="headerName is read only with source Header: set source: Header, or remove headerName"
// +kubebuilder:validation:XValidation:rule="!has(self.source) || self.source == 'Peer' || has(self.trustedCIDRs)",reason=FieldValueRequired,fieldPath=.trustedCIDRs,message="anyone could forge the header: set trustedCIDRs to the addresses of the proxies that write it"
// +kubebuilder:validation:XValidation:rule="!has(self.trustedCIDRs) || (has(self.source) && self.source != 'Peer')",reason=FieldValueForbidden,fieldPath=.trustedCIDRs,message="source Peer reads no header: set source to XForwardedFor or Header, or remove trustedCIDRs"
// +kubebuilder:validation:XValidation:rule="!has(self.trustedHops) || (has(self.source) && self.source != 'Peer')",reason=FieldValueForbidden,fieldPath=.trustedHops,message="source Peer reads no header: set source to XForwardedFor or Header, or remove trustedHops"
type ClientIP struct {
	// source is where the client's address is found: Peer (the other end of the
	// connection), XForwardedFor, or Header (the header named by headerName).
	// Absent means Peer.
	// Example: XForwardedFor.
	// +optional
	Source ClientIPSource `json:"source,omitempty"`

	// headerName is the name of the header with the client's address. Set exactly
	// with source Header. Case does not matter.
	// Example: CF-Connecting-IP.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=63
	// +kubebuilder:validation:Pattern=`^[A-Za-z0-9!#$%&'*+.^_|~-]+$`
	HeaderName string `json:"headerName,omitempty"`

	// trustedHops is how many proxies in front of the pod append to the header: the
	// client is entry number trustedHops from the right. With fewer entries, or
	// something else than an address there, the client is the peer. 1 to 32.
	// Absent means 1, the rightmost entry. Not with source Peer.
	// Example: 2.
	// +optional
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=32
	TrustedHops *int32 `json:"trustedHops,omitempty"`

	// trustedCIDRs are the addresses of the proxies that may tell the client's
	// address. The header of a peer that is not in here is ignored. Required
	// unless source is Peer; absent with it. At most 32.
	// Example: [100.64.0.0/10].
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=32
	// +kubebuilder:validation:items:MinLength=1
	// +kubebuilder:validation:items:MaxLength=63
	// +kubebuilder:validation:items:XValidation:rule="isCIDR(self)",reason=FieldValueInvalid,message="write an address range such as 10.0.0.0/8, 192.0.2.7/32 or 2001:db8::/32"
	TrustedCIDRs []string `json:"trustedCIDRs,omitempty"`

	// ipv6PrefixLength is how many leading bits of an IPv6 address make a client:
	// one household or host usually owns a whole /64. 1 to 128. Absent means 64.
	// IPv4 addresses, also IPv4-mapped ones, count whole.
	// Example: 56.
	// +optional
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=128
	IPv6PrefixLength *int32 `json:"ipv6PrefixLength,omitempty"`
}

// ClientIPSource is a place where a client's address is found.
// +kubebuilder:validation:Enum=Peer;XForwardedFor;Header
type ClientIPSource string

// Sources of the client's address.
const (
	ClientIPPeer          ClientIPSource = "Peer"
	ClientIPXForwardedFor ClientIPSource = "XForwardedFor"
	ClientIPHeader        ClientIPSource = "Header"
)
