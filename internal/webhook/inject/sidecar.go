// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package inject

import (
	"strconv"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/penstock-dev/penstock/api/v1alpha1"
)

const (
	adminPortName = "penstock-admin"
	storeVolume   = "penstock-store"
	podInfoVolume = "penstock-podinfo"
	storeFolder   = "/etc/penstock/store"
	podInfoFolder = "/etc/penstock/podinfo"
	// nonRootUser is the user of the sidecar's image.
	nonRootUser = 65532
)

// sidecar is the injected container: a native sidecar (an init container that
// is never done), so that it is up before the app starts and outlives it.
func sidecar(pod *corev1.Pod, ports []v1alpha1.InterceptedPort, admin int32, resources corev1.ResourceRequirements, image string) corev1.Container {
	return corev1.Container{
		Name:          v1alpha1.SidecarContainerName,
		Image:         image,
		RestartPolicy: new(corev1.ContainerRestartPolicyAlways),
		Args:          sidecarArguments(ports, admin),
		Env:           sidecarEnvironment(resources),
		Ports:         sidecarPorts(ports, admin),
		Resources:     resources,
		// The app starts once the listeners are up. Neither probe asks about the
		// store: a store outage must not become one of the app.
		StartupProbe:    sidecarProbe("/healthz", admin, 1, 60),
		ReadinessProbe:  sidecarProbe("/readyz", admin, 5, 3),
		Lifecycle:       &corev1.Lifecycle{PreStop: &corev1.LifecycleHandler{Exec: &corev1.ExecAction{Command: []string{"/sidecar", "drain"}}}},
		SecurityContext: sidecarSecurity(pod),
		VolumeMounts: []corev1.VolumeMount{
			{Name: storeVolume, MountPath: storeFolder, ReadOnly: true},
			{Name: podInfoVolume, MountPath: podInfoFolder, ReadOnly: true},
		},
	}
}

func sidecarArguments(ports []v1alpha1.InterceptedPort, admin int32) []string {
	var arguments []string
	for _, port := range ports {
		arguments = append(arguments, "--port="+strconv.Itoa(int(port.Listen))+"="+strconv.Itoa(int(port.App)))
	}
	return append(arguments,
		"--admin-port="+strconv.Itoa(int(admin)),
		"--store="+storeFolder,
		"--labels="+podInfoFolder+"/labels",
	)
}

func sidecarEnvironment(resources corev1.ResourceRequirements) []corev1.EnvVar {
	field := func(name, path string) corev1.EnvVar {
		return corev1.EnvVar{Name: name, ValueFrom: &corev1.EnvVarSource{FieldRef: &corev1.ObjectFieldSelector{APIVersion: "v1", FieldPath: path}}}
	}
	environment := []corev1.EnvVar{
		field("POD_NAME", "metadata.name"),
		field("POD_NAMESPACE", "metadata.namespace"),
		field("POD_UID", "metadata.uid"),
		field("POD_IPS", "status.podIPs"),
	}
	if limit := goMemoryLimit(resources); limit != "" {
		environment = append(environment, corev1.EnvVar{Name: "GOMEMLIMIT", Value: limit})
	}
	return environment
}

func sidecarPorts(ports []v1alpha1.InterceptedPort, admin int32) []corev1.ContainerPort {
	var declared []corev1.ContainerPort
	for _, port := range ports {
		declared = append(declared, corev1.ContainerPort{Name: port.Name, ContainerPort: port.Listen, Protocol: corev1.ProtocolTCP})
	}
	return append(declared, corev1.ContainerPort{Name: adminPortName, ContainerPort: admin, Protocol: corev1.ProtocolTCP})
}

func sidecarProbe(path string, port, seconds, failures int32) *corev1.Probe {
	return &corev1.Probe{
		ProbeHandler:     corev1.ProbeHandler{HTTPGet: &corev1.HTTPGetAction{Path: path, Port: intstr.FromInt32(port)}},
		PeriodSeconds:    seconds,
		FailureThreshold: failures,
	}
}

// sidecarSecurity satisfies Pod Security "restricted" whatever the pod says for
// its other containers. The user is the image's or the pod's; only where the pod
// runs as root it must be named, since the pod's setting would win over the image's.
func sidecarSecurity(pod *corev1.Pod) *corev1.SecurityContext {
	security := &corev1.SecurityContext{
		RunAsNonRoot:             new(true),
		AllowPrivilegeEscalation: new(false),
		ReadOnlyRootFilesystem:   new(true),
		Capabilities:             &corev1.Capabilities{Drop: []corev1.Capability{"ALL"}},
		SeccompProfile:           &corev1.SeccompProfile{Type: corev1.SeccompProfileTypeRuntimeDefault},
	}
	if own := pod.Spec.SecurityContext; own != nil && own.RunAsUser != nil && *own.RunAsUser == 0 {
		security.RunAsUser = new(int64(nonRootUser))
	}
	return security
}
