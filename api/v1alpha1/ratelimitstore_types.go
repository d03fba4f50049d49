// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package v1alpha1

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:resource:scope=Cluster,shortName=rlstore

// RateLimitStore is a Redis in which requests are counted.
type RateLimitStore struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitzero"`

	// +required
	Spec RateLimitStoreSpec `json:"spec,omitzero"`
	// +optional
	Status RateLimitStoreStatus `json:"status,omitzero"`
}

// +kubebuilder:object:root=true

// RateLimitStoreList is a list of RateLimitStore.
type RateLimitStoreList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitzero"`
	Items           []RateLimitStore `json:"items"`
}

// RateLimitStoreSpec says how to reach the store.
type RateLimitStoreSpec struct {
	// mode absent means Standalone.
	// +optional
	Mode StoreMode `json:"mode,omitempty"`
	// +listType=atomic
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=16
	Addresses []string `json:"addresses"`
	// +optional
	Sentinel *Sentinel `json:"sentinel,omitempty"`
	// +optional
	Database *int32 `json:"database,omitempty"`
	// +optional
	Credentials *Credentials `json:"credentials,omitempty"`
	// sidecarCredentials are the sidecars' own user, with isolation Shared.
	// +optional
	SidecarCredentials *Credentials `json:"sidecarCredentials,omitempty"`
	// +optional
	TLS *StoreTLS `json:"tls,omitempty"`
	// keyPrefix absent means penstock.
	// +optional
	KeyPrefix string `json:"keyPrefix,omitempty"`
	// +optional
	Timeouts *StoreTimeouts `json:"timeouts,omitempty"`
	// isolation absent means PerNamespace.
	// +optional
	Isolation Isolation `json:"isolation,omitempty"`
}

// StoreMode is how a store is run.
// +kubebuilder:validation:Enum=Standalone;Sentinel;Cluster
type StoreMode string

const (
	StoreStandalone StoreMode = "Standalone"
	StoreSentinel   StoreMode = "Sentinel"
	StoreCluster    StoreMode = "Cluster"
)

// Sentinel says how the master is found.
type Sentinel struct {
	MasterName string `json:"masterName"`
	// +optional
	Credentials *Credentials `json:"credentials,omitempty"`
}

// Credentials are a user name and password in a Secret (keys username, password)
// of the operator's namespace.
type Credentials struct {
	SecretRef SecretReference `json:"secretRef"`
}

// SecretReference names a Secret in the operator's namespace.
type SecretReference struct {
	Name string `json:"name"`
}

// StoreTLS says how a TLS connection is made and verified.
type StoreTLS struct {
	// caSecretRef is a Secret with ca.crt; absent trusts the system's certificates.
	// +optional
	CASecretRef *SecretReference `json:"caSecretRef,omitempty"`
	// +optional
	ClientCertificateSecretRef *SecretReference `json:"clientCertificateSecretRef,omitempty"`
	// +optional
	SidecarCertificateSecretRef *SecretReference `json:"sidecarCertificateSecretRef,omitempty"`
	// +optional
	ServerName string `json:"serverName,omitempty"`
}

// StoreTimeouts bound what a sidecar waits for the store.
type StoreTimeouts struct {
	// operation absent means 25ms.
	// +optional
	Operation Duration `json:"operation,omitempty"`
	// dial absent means 250ms.
	// +optional
	Dial Duration `json:"dial,omitempty"`
}

// Isolation says whether namespaces have Redis users of their own.
// +kubebuilder:validation:Enum=PerNamespace;Shared
type Isolation string

const (
	IsolationPerNamespace Isolation = "PerNamespace"
	IsolationShared       Isolation = "Shared"
)

// RateLimitStoreStatus is how the store was found.
type RateLimitStoreStatus struct {
	// +optional
	ObservedGeneration int64 `json:"observedGeneration,omitempty"`
	// version is the server's version.
	// +optional
	Version string `json:"version,omitempty"`
	// roundTrip is the time that a ping took.
	// +optional
	RoundTrip Duration `json:"roundTrip,omitempty"`
	// namespaces is how many namespaces count in this store.
	// +optional
	Namespaces int32 `json:"namespaces,omitempty"`
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=32
	Problems []Problem `json:"problems,omitempty"`
	// +optional
	// +listType=map
	// +listMapKey=type
	// +kubebuilder:validation:MaxItems=8
	Conditions []metav1.Condition `json:"conditions,omitempty"`
}
