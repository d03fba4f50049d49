// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package inject

import (
	"strings"

	"github.com/penstock-dev/penstock/api/v1alpha1"
)

// Reasons why a pod gets no sidecar.
const (
	ReasonAlreadyInjected    = "AlreadyInjected"
	ReasonOptedOut           = "OptedOut"
	ReasonHostNetwork        = "HostNetwork"
	ReasonNoHTTPPorts        = "NoHTTPPorts"
	ReasonUnknownPort        = "UnknownPort"
	ReasonPortNameTaken      = "PortNameTaken"
	ReasonNameTaken          = "NameTaken"
	ReasonNoFreePort         = "NoFreePort"
	ReasonUnsupportedVersion = "UnsupportedVersion"
	ReasonWindows            = "Windows"
	ReasonStaticPod          = "StaticPod"
	ReasonDrainSeconds       = "DrainSeconds"
	ReasonForwardedFor       = "ForwardedFor"
	ReasonAppHost            = "AppHost"
	ReasonMalformed          = "Malformed"
)

// subject stands in a sentence for what the reason is about in this pod.
const subject = "{subject}"

var sentences = map[string]string{
	ReasonAlreadyInjected:    "The pod has a sidecar already.",
	ReasonOptedOut:           "The pod's label " + v1alpha1.LabelInject + " is \"false\"; remove it to have the pod's requests limited.",
	ReasonHostNetwork:        "The pod uses the host's network, where a sidecar would take over ports of the node; unset hostNetwork to have its requests limited.",
	ReasonNoHTTPPorts:        "No container declares a TCP port named http, http2, h2c, grpc or web, or one of these followed by \"-\"; name the port so, or list it in the annotation " + v1alpha1.AnnotationPorts + ".",
	ReasonUnknownPort:        "The annotation " + v1alpha1.AnnotationPorts + " lists " + subject + ", which is no named TCP port of any container; declare the port with a name, or correct the annotation.",
	ReasonPortNameTaken:      "The app's port would be renamed to " + subject + ", which another port of the pod is called already; rename that port.",
	ReasonNameTaken:          "The pod has a " + subject + " already, a name that the sidecar needs; rename it.",
	ReasonNoFreePort:         "The pod declares so many ports that none is left for the sidecar; declare fewer.",
	ReasonUnsupportedVersion: "The API server is " + subject + ", and native sidecars with named ports need 1.33; upgrade the cluster and restart the operator.",
	ReasonWindows:            "The pod runs on Windows, and the sidecar is a Linux program.",
	ReasonStaticPod:          "The pod mirrors a static pod, which its kubelet started already.",
	ReasonDrainSeconds:       "The annotation " + v1alpha1.AnnotationDrainSeconds + " is " + subject + ", so that the app ends within the pod's terminationGracePeriodSeconds; correct it.",
	ReasonForwardedFor:       "The annotation " + v1alpha1.AnnotationForwardedFor + " is " + subject + ", and not Append or Preserve; correct it.",
	ReasonAppHost:            "The annotation " + v1alpha1.AnnotationAppHost + " is " + subject + ", which is no IP address of an app, such as 127.0.0.1; correct it, or remove it for the pod's own address.",
	ReasonMalformed:          "The pod lacks metadata, a spec or the name of a container or volume, so the API server is about to refuse it.",
}

// refusal is why a pod gets no sidecar; its zero value is no refusal.
type refusal struct {
	reason, subject string
}

func (r refusal) report(version string) v1alpha1.PodInjection {
	return v1alpha1.PodInjection{
		Reason:  r.reason,
		Message: strings.ReplaceAll(sentences[r.reason], subject, r.subject),
		Version: version,
	}
}
