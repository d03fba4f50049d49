// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package inject

import "k8s.io/apimachinery/pkg/api/resource"

// Options say how the injected sidecar looks.
type Options struct {
	// Image is the sidecar's image; its entry point is /sidecar.
	Image string
	// Arguments are further flags of the sidecar, the same in all pods. They come after
	// those that depend on the pod, and a pod's annotation wins over them.
	Arguments []string
	// Version is the operator's, for the report on the pod.
	Version string
	// OutdatedKubernetes is the version of an API server that is too old for
	// native sidecars with named ports (before 1.33), for example "v1.32.4";
	// empty on any other.
	OutdatedKubernetes string
	// Resources are the sidecar's; zero values take the defaults.
	Resources Resources
}

// Resources are what a sidecar asks for.
type Resources struct {
	// CPU and Memory are the requests; absent are 20m and 32Mi.
	CPU, Memory resource.Quantity
	// CPULimit and MemoryLimit are both request and limit in a Guaranteed pod,
	// which a container without limits would demote, and the limit where a
	// ResourceQuota demands one; absent are 200m and 96Mi.
	CPULimit, MemoryLimit resource.Quantity
}

// Namespace is what matters of the namespace that the pod is created in.
type Namespace struct {
	// CPULimitRequired and MemoryLimitRequired are whether a ResourceQuota
	// rejects containers without such a limit.
	CPULimitRequired, MemoryLimitRequired bool
}

func (r Resources) withDefaults() Resources {
	orDefault := func(q resource.Quantity, absent string) resource.Quantity {
		if q.IsZero() {
			return resource.MustParse(absent)
		}
		return q
	}
	return Resources{
		CPU:         orDefault(r.CPU, "20m"),
		Memory:      orDefault(r.Memory, "32Mi"),
		CPULimit:    orDefault(r.CPULimit, "200m"),
		MemoryLimit: orDefault(r.MemoryLimit, "96Mi"),
	}
}
