// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package v1alpha1

// PodInjection is the value, as JSON, of the annotation penstock.dev/status on a
// pod: what the webhook injected, or why it injected nothing.
//
// +kubebuilder:object:generate=false
type PodInjection struct {
	// Injected is whether the pod has a sidecar.
	Injected bool `json:"injected"`
	// Reason names why there is none; empty if there is one.
	Reason string `json:"reason,omitempty"`
	// Message says it in a sentence, with what would mend it.
	Message string `json:"message,omitempty"`
	// Interception is how requests reach the sidecar: PortName.
	Interception string `json:"interception,omitempty"`
	// Ports are the intercepted ports.
	Ports []InterceptedPort `json:"ports,omitempty"`
	// Version is that of the operator that injected.
	Version string `json:"version,omitempty"`
}

// InterceptedPort is a port whose requests pass through the sidecar.
//
// +kubebuilder:object:generate=false
type InterceptedPort struct {
	// Name is the port's name, which the sidecar took over from the app.
	Name string `json:"name"`
	// Listen is the port on which the sidecar listens.
	Listen int32 `json:"listen"`
	// App is the port on which the app listens.
	App int32 `json:"app"`
}
