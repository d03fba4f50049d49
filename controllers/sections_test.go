// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package controllers

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/penstock-dev/penstock/api/v1alpha1"
	"github.com/penstock-dev/penstock/internal/compile"
	"github.com/penstock-dev/penstock/internal/ruleset"
)

// webPod has a sidecar before a port named http, of this number in the app.
func webPod(name string, app int32) podView {
	return podView{
		name: name, labels: map[string]string{"app": "web"}, injected: true,
		report: &v1alpha1.PodInjection{Injected: true, Ports: []v1alpha1.InterceptedPort{{Name: "http", Listen: 15480, App: app}}},
	}
}

func TestSectionsBecomePorts(t *testing.T) {
	t.Parallel()
	web := ruleset.Selector{MatchLabels: map[string]string{"app": "web"}}
	service := &corev1.Service{Spec: corev1.ServiceSpec{Ports: []corev1.ServicePort{
		{Name: "http", Port: 80, TargetPort: intstr.FromString("http")},
		{Name: "number", Port: 81, TargetPort: intstr.FromInt32(7070), Protocol: corev1.ProtocolTCP},
		{Name: "same", Port: 9090},
		{Name: "quic", Port: 443, Protocol: corev1.ProtocolUDP},
		{Name: "metrics", Port: 82, TargetPort: intstr.FromString("metrics")},
	}}}
	elsewhere := webPod("db", 5432)
	elsewhere.labels = map[string]string{"app": "db"}
	untold := podView{name: "bare", labels: web.MatchLabels}
	tests := map[string]struct {
		section string
		pods    []podView
		want    compile.Resolved
	}{
		"by name":            {"http", []podView{webPod("a", 8080), webPod("b", 8080), elsewhere, untold}, compile.Resolved{Ports: []int32{8080}}},
		"pods differ":        {"http", []podView{webPod("a", 9000), webPod("b", 8080)}, compile.Resolved{Ports: []int32{8080, 9000}}},
		"no pod yet":         {"http", nil, compile.Resolved{Ports: []int32{compile.NoPort}}},
		"not intercepted":    {"metrics", []podView{webPod("a", 8080)}, compile.Resolved{Ports: []int32{compile.NoPort}}},
		"by number":          {"number", nil, compile.Resolved{Ports: []int32{7070}}},
		"the Service's own":  {"same", nil, compile.Resolved{Ports: []int32{9090}}},
		"of another section": {"grpc", nil, compile.Resolved{NoSuchSection: true, Sections: []string{"http", "metrics", "number", "same"}}},
		"not of TCP":         {"quic", nil, compile.Resolved{NoSuchSection: true, Sections: []string{"http", "metrics", "number", "same"}}},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := compile.Resolved{Selector: web}
			resolveSection(&got, service, tc.section, tc.pods)
			tc.want.Selector = web
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("resolved (-want +got):\n%s", diff)
			}
		})
	}
}

func TestSectionsThatNoSidecarSees(t *testing.T) {
	t.Parallel()
	at := func(port int32) ruleset.Selector {
		return ruleset.Selector{MatchLabels: map[string]string{"app": "web"}, Port: port}
	}
	bare := webPod("web-1", 8080)
	bare.injected = false
	tests := map[string]struct {
		pod       podView
		selectors []ruleset.Selector
		want      int
	}{
		"its port":            {webPod("web-1", 8080), []ruleset.Selector{at(8080)}, 0},
		"one of two":          {webPod("web-1", 8080), []ruleset.Selector{at(9090), at(8080)}, 0},
		"every port":          {webPod("web-1", 8080), []ruleset.Selector{at(0)}, 0},
		"another port":        {webPod("web-1", 8080), []ruleset.Selector{at(9090)}, 1},
		"a port that no pod":  {webPod("web-1", 8080), []ruleset.Selector{at(compile.NoPort)}, 1},
		"a pod without":       {bare, []ruleset.Selector{at(9090)}, 0},
		"of nobody's concern": {webPod("web-1", 8080), []ruleset.Selector{{MatchLabels: map[string]string{"app": "db"}, Port: 1}}, 0},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := sectionsMissed([]podView{tc.pod}, tc.selectors); len(got) != tc.want {
				t.Errorf("found %q, want %d sentences", got, tc.want)
			}
		})
	}
}
