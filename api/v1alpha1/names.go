// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package v1alpha1

// Names that Penstock gives to things in a cluster.
const (
	// LabelInjection on a namespace turns injection on with the value "enabled".
	LabelInjection = "penstock.dev/injection"
	// LabelInject on a pod opts out of injection with "false" and in with "true".
	LabelInject = "penstock.dev/inject"
	// LabelStore on a namespace names its RateLimitStore; absent means "default".
	LabelStore = "penstock.dev/store"
	// AnnotationStatus on a pod says what was injected, or why nothing was.
	AnnotationStatus = "penstock.dev/status"
	// AnnotationPorts on a pod names the ports to intercept, separated by commas.
	AnnotationPorts = "penstock.dev/ports"
	// AnnotationDrainSeconds on a pod says for how many seconds its app goes on serving
	// once the pod is to end.
	AnnotationDrainSeconds = "penstock.dev/drain-seconds"
	// AnnotationForwardedFor on a pod says how X-Forwarded-For goes on to its app:
	// "Append" adds the peer's address, "Preserve" leaves it as it was sent.
	AnnotationForwardedFor = "penstock.dev/forwarded-for"
	// AnnotationAppHost on a pod is the IP address at which its app is dialled.
	AnnotationAppHost = "penstock.dev/app-host"
	// SidecarSecretName is the Secret in each injected namespace with the store's
	// settings and a snapshot of the rule set.
	SidecarSecretName = "penstock-sidecar"
	// SidecarContainerName is the name of the injected container.
	SidecarContainerName = "penstock"
	// DefaultStoreName is the store of a namespace that names none.
	DefaultStoreName = "default"
)

// Reasons of problems that are warnings: the policy is accepted.
const (
	// ReasonUnverifiedToken is of a policy that believes tokens that nothing here
	// verifies.
	ReasonUnverifiedToken = "UnverifiedToken"
	// ReasonLiteralPath is of a path with what looks like a parameter or wildcard, and
	// is compared as written.
	ReasonLiteralPath = "LiteralPath"
	// ReasonExemptsEveryone is of an exemption for all addresses of a family.
	ReasonExemptsEveryone = "ExemptsEveryone"
	// ReasonTrustsEveryone is of a policy that believes a header of all addresses of a
	// family.
	ReasonTrustsEveryone = "TrustsEveryone"
	// ReasonPeerIsProxy is of a policy whose requests come through a proxy, which it
	// takes for the client.
	ReasonPeerIsProxy = "PeerIsProxy"
)

// Condition types of all kinds.
const (
	ConditionAccepted   = "Accepted"
	ConditionProgrammed = "Programmed"
	ConditionEnforced   = "Enforced"
	ConditionReady      = "Ready"
	ConditionStalled    = "Stalled"
	// ConditionConnected is a store's.
	ConditionConnected = "Connected"
)

// Reasons of conditions. An event has the reason of the condition it announces.
const (
	ReasonAccepted       = "Accepted"
	ReasonInvalid        = "Invalid"
	ReasonTargetNotFound = "TargetNotFound"
	ReasonStoreNotFound  = "StoreNotFound"
	ReasonNotImplemented = "NotImplemented"

	ReasonProgrammed       = "Programmed"
	ReasonStoreUnavailable = "StoreUnavailable"
	ReasonRuleSetTooLarge  = "RuleSetTooLarge"

	ReasonEnforced        = "Enforced"
	ReasonPending         = "Pending"
	ReasonNotInjected     = "NotInjected"
	ReasonNotIntercepted  = "NotIntercepted"
	ReasonNotHTTP         = "NotHTTP"
	ReasonSidecarOutdated = "SidecarOutdated"
	ReasonSidecarSilent   = "SidecarSilent"
	ReasonStoreDegraded   = "StoreDegraded"
	ReasonNoPods          = "NoPods"
	ReasonDisabled        = "Disabled"
	ReasonReady           = "Ready"

	ReasonConnected          = "Connected"
	ReasonUnreachable        = "Unreachable"
	ReasonCredentialsRefused = "CredentialsRefused"
	ReasonPrefixInUse        = "PrefixInUse"
)

// Reasons of problems that no condition has: its reason is Invalid.
const (
	// ReasonUnresolvedPathParam is of a pathParam that not every match of its rule names.
	ReasonUnresolvedPathParam = "UnresolvedPathParam"
)
