// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package inject

import (
	"encoding/json"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/pod-security-admission/api"
	"k8s.io/pod-security-admission/policy"
)

// TestInjectedPodIsRestricted runs Kubernetes' own Pod Security checks.
func TestInjectedPodIsRestricted(t *testing.T) {
	t.Parallel()
	checked := 0
	for name, g := range goldens(t) {
		if !g.Restricted {
			continue
		}
		checked++
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for when, object := range map[string][]byte{
				"before": g.Pod,
				"after":  apply(t, g.inject(t, g.Pod).Patch, g.Pod),
			} {
				var pod corev1.Pod
				if err := json.Unmarshal(object, &pod); err != nil {
					t.Fatal(err)
				}
				for _, problem := range violations(t, &pod) {
					t.Errorf("%s injection: %s", when, problem)
				}
			}
		})
	}
	if checked == 0 {
		t.Error("no golden claims restricted: true")
	}
}

// TestSidecarIsRestrictedInAnyPod looks at the sidecar alone: a privileged pod of a
// privileged namespace must not make it privileged too.
func TestSidecarIsRestrictedInAnyPod(t *testing.T) {
	t.Parallel()
	pods := map[string]corev1.PodSpec{
		"no security context": {},
		"root":                {SecurityContext: &corev1.PodSecurityContext{RunAsUser: new(int64(0)), RunAsNonRoot: new(false)}},
		"unconfined":          {SecurityContext: &corev1.PodSecurityContext{SeccompProfile: &corev1.SeccompProfile{Type: corev1.SeccompProfileTypeUnconfined}}},
	}
	for name, spec := range pods {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			pod := &corev1.Pod{Spec: spec}
			alone := &corev1.Pod{Spec: corev1.PodSpec{InitContainers: []corev1.Container{
				sidecar(pod, nil, firstAdminPort, corev1.ResourceRequirements{}, "sidecar.test/sidecar:v1"),
			}}}
			for _, problem := range violations(t, alone) {
				t.Error(problem)
			}
			security := alone.Spec.InitContainers[0].SecurityContext
			if security == nil || security.ReadOnlyRootFilesystem == nil || !*security.ReadOnlyRootFilesystem {
				t.Error("readOnlyRootFilesystem is not true")
			}
		})
	}
}

func TestUserIsNamedOnlyWhereThePodRunsAsRoot(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		own  *corev1.PodSecurityContext
		want *int64
	}{
		"none":  {nil, nil},
		"unset": {&corev1.PodSecurityContext{}, nil},
		"other": {&corev1.PodSecurityContext{RunAsUser: new(int64(1000))}, nil},
		"root":  {&corev1.PodSecurityContext{RunAsUser: new(int64(0))}, new(int64(nonRootUser))},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := sidecarSecurity(&corev1.Pod{Spec: corev1.PodSpec{SecurityContext: tc.own}}).RunAsUser
			if (got == nil) != (tc.want == nil) || got != nil && *got != *tc.want {
				t.Errorf("runAsUser = %v, want %v", got, tc.want)
			}
		})
	}
}

func violations(t *testing.T, pod *corev1.Pod) []string {
	t.Helper()
	evaluator, err := policy.NewEvaluator(policy.DefaultChecks(), nil)
	if err != nil {
		t.Fatal(err)
	}
	var problems []string
	for _, result := range evaluator.EvaluatePod(api.LevelVersion{Level: api.LevelRestricted, Version: api.LatestVersion()}, &pod.ObjectMeta, &pod.Spec) {
		if !result.Allowed {
			problems = append(problems, result.ForbiddenReason+": "+result.ForbiddenDetail)
		}
	}
	return problems
}
