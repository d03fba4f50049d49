// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package v1alpha1

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// RateLimitStore is a Redis in which requests are counted. A namespace counts in
// the store that its label penstock.dev/store names, else in the one named
// default.
//
// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:resource:scope=Cluster,shortName=rlstore,categories=penstock
// +kubebuilder:printcolumn:name=Mode,type=string,JSONPath=`.spec.mode`,description="Empty means Standalone."
// +kubebuilder:printcolumn:name=Address,type=string,JSONPath=`.spec.addresses[0]`
// +kubebuilder:printcolumn:name=Connected,type=string,JSONPath=`.status.conditions[?(@.type=="Connected")].status`
// +kubebuilder:printcolumn:name=Reason,type=string,JSONPath=`.status.conditions[?(@.type=="Connected")].reason`
// +kubebuilder:printcolumn:name=Version,type=string,JSONPath=`.status.version`
// +kubebuilder:printcolumn:name=Age,type=date,JSONPath=`.metadata.creationTimestamp`
type RateLimitStore struct {
	metav1.TypeMeta `json:",inline"`
	// metadata is the standard object metadata.
	// +optional
	metav1.ObjectMeta `json:"metadata,omitzero"`

	// spec says how to reach the store.
	// +required
	Spec RateLimitStoreSpec `json:"spec,omitzero"`
	// status is how the store was found.
	// +optional
	Status RateLimitStoreStatus `json:"status,omitzero"`
}

// RateLimitStoreList is a list of RateLimitStore.
//
// +kubebuilder:object:root=true
type RateLimitStoreList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitzero"`
	Items           []RateLimitStore `json:"items"`
}

// RateLimitStoreSpec says how to reach the store.
//
// +kubebuilder:validation:XValidation:rule="(has(self.mode) && self.mode != 'Standalone') || self.addresses.size() == 1",reason=FieldValueInvalid,fieldPath=.addresses,message="a Standalone store has one address: leave one, or set mode to Sentinel or Cluster"
// +kubebuilder:validation:XValidation:rule="!(has(self.mode) && self.mode == 'Sentinel') || has(self.sentinel)",reason=FieldValueRequired,fieldPath=.sentinel,message="mode Sentinel needs the master's name: set sentinel.masterName"
// +kubebuilder:validation:XValidation:rule="!has(self.sentinel) || (has(self.mode) && self.mode == 'Sentinel')",reason=FieldValueForbidden,fieldPath=.sentinel,message="sentinel is read only with mode Sentinel: set mode: Sentinel, or remove sentinel"
// +kubebuilder:validation:XValidation:rule="!(has(self.mode) && self.mode == 'Cluster') || !has(self.database) || self.database == 0",reason=FieldValueInvalid,fieldPath=.database,message="a Redis Cluster has only database 0: remove database"
// +kubebuilder:validation:XValidation:rule="!(has(self.isolation) && self.isolation == 'Shared') || has(self.sidecarCredentials)",reason=FieldValueRequired,fieldPath=.sidecarCredentials,message="isolation Shared needs a user for the sidecars: set sidecarCredentials.secretRef.name"
// +kubebuilder:validation:XValidation:rule="!has(self.sidecarCredentials) || (has(self.isolation) && self.isolation == 'Shared')",reason=FieldValueForbidden,fieldPath=.sidecarCredentials,message="with isolation PerNamespace the operator makes the sidecars' users: remove sidecarCredentials, or set isolation: Shared"
// +kubebuilder:validation:XValidation:rule="!has(self.credentials) || !has(self.sidecarCredentials) || self.credentials.secretRef.name != self.sidecarCredentials.secretRef.name",reason=FieldValueInvalid,fieldPath=.sidecarCredentials,message="the operator's own credentials never reach a pod: name another Secret, with a user for the sidecars"
// +kubebuilder:validation:XValidation:rule="!has(self.sentinel) || !has(self.sentinel.credentials) || !has(self.credentials) || self.credentials.secretRef.name != self.sentinel.credentials.secretRef.name",reason=FieldValueInvalid,fieldPath=.sentinel.credentials,message="the operator's own credentials never reach a pod: name another Secret, with a user of the Sentinels"
type RateLimitStoreSpec struct {
	// mode is how the store is run: Standalone (one server, or one address in front
	// of several), Sentinel or Cluster. Absent means Standalone.
	// Example: Sentinel.
	// +optional
	Mode StoreMode `json:"mode,omitempty"`

	// addresses are host:port of the server (exactly one with Standalone), of the
	// Sentinels, or of some nodes of the Cluster. 1 to 16. The operator and all
	// sidecars must reach them.
	// Example: [redis.redis.svc:6379].
	// +required
	// +listType=atomic
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=16
	// +kubebuilder:validation:items:MinLength=3
	// +kubebuilder:validation:items:MaxLength=259
	// +kubebuilder:validation:items:Pattern=`^([A-Za-z0-9]([A-Za-z0-9._-]*[A-Za-z0-9])?|\[[0-9A-Fa-f:.]+\]):[1-9][0-9]{0,4}$`
	// +kubebuilder:validation:items:XValidation:rule="!self.matches(':[0-9]{1,5}$') || int(self.substring(self.lastIndexOf(':') + 1)) <= 65535",reason=FieldValueInvalid,message="a port is a number from 1 to 65535: write host:port, such as redis.redis.svc:6379"
	Addresses []string `json:"addresses"`

	// sentinel says how the master is found. Set exactly with mode Sentinel.
	// Example: {masterName: mymaster}.
	// +optional
	Sentinel *Sentinel `json:"sentinel,omitempty"`

	// database is the number of the database, 0 to 65535. Absent means 0, the only
	// one of a Cluster.
	// Example: 1.
	// +optional
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=65535
	Database *int32 `json:"database,omitempty"`

	// credentials are the operator's own user. They never leave the operator.
	// Absent: the operator connects without.
	// Example: {secretRef: {name: penstock-redis}}.
	// +optional
	Credentials *Credentials `json:"credentials,omitempty"`

	// sidecarCredentials are the user of all sidecars, which are copied to every
	// injected namespace. Set exactly with isolation Shared.
	// Example: {secretRef: {name: penstock-redis-sidecar}}.
	// +optional
	SidecarCredentials *Credentials `json:"sidecarCredentials,omitempty"`

	// tls makes connections encrypted and verified; {} trusts the system's
	// certificates. Absent: connections are not encrypted.
	// Example: {caSecretRef: {name: redis-ca}}.
	// +optional
	TLS *StoreTLS `json:"tls,omitempty"`

	// keyPrefix begins the name of every key that Penstock writes, so that others
	// can use the same database. Lower-case letters, digits, dots, _ and -, at most
	// 63. Two clusters must not share one. Absent means penstock.
	// Example: penstock-eu.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=63
	// +kubebuilder:validation:Pattern=`^[a-z0-9]([a-z0-9._-]*[a-z0-9])?$`
	KeyPrefix string `json:"keyPrefix,omitempty"`

	// timeouts bound what a request waits for the store before onStoreFailure
	// decides. Absent: {operation: 25ms, dial: 250ms}.
	// Example: {operation: 50ms}.
	// +optional
	Timeouts *StoreTimeouts `json:"timeouts,omitempty"`

	// isolation says whether namespaces have Redis users of their own.
	// PerNamespace: the operator makes one for each, which reads that namespace's
	// rules and counts there, and nothing else. Shared: all sidecars use
	// sidecarCredentials. Absent means PerNamespace.
	// Example: Shared.
	// +optional
	Isolation Isolation `json:"isolation,omitempty"`
}

// StoreMode is how a store is run.
// +kubebuilder:validation:Enum=Standalone;Sentinel;Cluster
type StoreMode string

// Modes of a store.
const (
	StoreStandalone StoreMode = "Standalone"
	StoreSentinel   StoreMode = "Sentinel"
	StoreCluster    StoreMode = "Cluster"
)

// Sentinel says how the master is found.
type Sentinel struct {
	// masterName is the name that the Sentinels know the master by.
	// Example: mymaster.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=63
	// +kubebuilder:validation:Pattern=`^[A-Za-z0-9._-]+$`
	MasterName string `json:"masterName"`

	// credentials are a user of the Sentinels themselves, which is copied to every
	// injected namespace: sidecars ask them for the master. Absent: they ask for none.
	// Example: {secretRef: {name: sentinel}}.
	// +optional
	Credentials *Credentials `json:"credentials,omitempty"`
}

// Credentials are a user name and password in a Secret (keys username, password)
// of the operator's namespace.
type Credentials struct {
	// secretRef names a Secret in the operator's namespace with the keys username
	// (absent: the user default) and password.
	// Example: {name: penstock-redis}.
	// +required
	SecretRef SecretReference `json:"secretRef,omitzero"`
}

// SecretReference names a Secret in the operator's namespace.
type SecretReference struct {
	// name is the name of the Secret.
	// Example: penstock-redis.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	// +kubebuilder:validation:Pattern=`^[a-z0-9]([-a-z0-9.]*[a-z0-9])?$`
	Name string `json:"name"`
}

// StoreTLS says how a TLS connection is made and verified.
//
// +kubebuilder:validation:XValidation:rule="!has(self.clientCertificateSecretRef) || !has(self.sidecarCertificateSecretRef) || self.clientCertificateSecretRef.name != self.sidecarCertificateSecretRef.name",reason=FieldValueInvalid,fieldPath=.sidecarCertificateSecretRef,message="the operator's own key never reaches a pod: name another Secret, with a certificate for the sidecars"
type StoreTLS struct {
	// caSecretRef is a Secret with the key ca.crt: the certificates, as PEM, that a
	// server's must be signed by. Absent: the system's certificates.
	// Example: {name: redis-ca}.
	// +optional
	CASecretRef *SecretReference `json:"caSecretRef,omitempty"`

	// clientCertificateSecretRef is a Secret of type kubernetes.io/tls with the
	// operator's own certificate. It never leaves the operator. Absent: none.
	// Example: {name: redis-operator-tls}.
	// +optional
	ClientCertificateSecretRef *SecretReference `json:"clientCertificateSecretRef,omitempty"`

	// sidecarCertificateSecretRef is a Secret of type kubernetes.io/tls with the
	// sidecars' certificate, which is copied to every injected namespace. Absent:
	// none.
	// Example: {name: redis-sidecar-tls}.
	// +optional
	SidecarCertificateSecretRef *SecretReference `json:"sidecarCertificateSecretRef,omitempty"`

	// serverName is the name that the server's certificate must be for. Absent: the
	// host of the address.
	// Example: redis.example.com.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	// +kubebuilder:validation:Pattern=`^[A-Za-z0-9]([A-Za-z0-9.-]*[A-Za-z0-9])?$`
	ServerName string `json:"serverName,omitempty"`
}

// StoreTimeouts bound what a sidecar waits for the store.
type StoreTimeouts struct {
	// operation bounds one question to the store. A duration as in GEP-2257 from
	// 1ms to 10s. Absent means 25ms.
	// Example: 50ms.
	// +optional
	// +kubebuilder:validation:Pattern=`^([0-9]{1,5}(h|m|s|ms)){1,4}$`
	// +kubebuilder:validation:XValidation:rule="duration(self) >= duration('1ms') && duration(self) <= duration('10s')",reason=FieldValueInvalid,message="write a time from 1ms to 10s: requests wait as long as that"
	Operation Duration `json:"operation,omitempty"`

	// dial bounds the making of a connection. A duration as in GEP-2257 from 1ms to
	// 60s. Absent means 250ms.
	// Example: 500ms.
	// +optional
	// +kubebuilder:validation:Pattern=`^([0-9]{1,5}(h|m|s|ms)){1,4}$`
	// +kubebuilder:validation:XValidation:rule="duration(self) >= duration('1ms') && duration(self) <= duration('60s')",reason=FieldValueInvalid,message="write a time from 1ms to 60s"
	Dial Duration `json:"dial,omitempty"`
}

// Isolation says whether namespaces have Redis users of their own.
// +kubebuilder:validation:Enum=PerNamespace;Shared
type Isolation string

// Kinds of isolation.
const (
	IsolationPerNamespace Isolation = "PerNamespace"
	IsolationShared       Isolation = "Shared"
)

// RateLimitStoreStatus is how the store was found.
type RateLimitStoreStatus struct {
	// observedGeneration is the last generation of the store that the operator
	// looked at.
	// +optional
	ObservedGeneration int64 `json:"observedGeneration,omitempty"`

	// version is the server's version.
	// Example: 7.4.1.
	// +optional
	// +kubebuilder:validation:MaxLength=63
	Version string `json:"version,omitempty"`

	// roundTrip is the time that a ping took.
	// Example: 1ms.
	// +optional
	RoundTrip Duration `json:"roundTrip,omitempty"`

	// namespaces is how many namespaces count in this store.
	// +optional
	Namespaces int32 `json:"namespaces,omitempty"`

	// problems are what is wrong with the store, at most 32.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=32
	Problems []Problem `json:"problems,omitempty"`

	// conditions are Accepted (the spec is valid) and Connected (the operator
	// reaches the store and may use it).
	// +optional
	// +listType=map
	// +listMapKey=type
	// +kubebuilder:validation:MaxItems=8
	Conditions []metav1.Condition `json:"conditions,omitempty"`
}
