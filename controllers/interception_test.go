// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package controllers

import (
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/penstock-dev/penstock/api/v1alpha1"
	"github.com/penstock-dev/penstock/internal/ruleset"
)

func TestNotIntercepted(t *testing.T) {
	t.Parallel()
	webPods := map[string]string{"app": "web"}
	service := func(selector map[string]string, clusterIP string, port int32, target intstr.IntOrString) corev1.Service {
		return corev1.Service{
			ObjectMeta: metav1.ObjectMeta{Name: "front"},
			Spec: corev1.ServiceSpec{Selector: selector, ClusterIP: clusterIP, Ports: []corev1.ServicePort{
				{Port: port, TargetPort: target, Protocol: corev1.ProtocolTCP},
			}},
		}
	}
	cases := map[string]struct {
		service corev1.Service
		bare    bool // the pod has no sidecar
		want    string
	}{
		"by name":                             {service: service(webPods, "192.0.2.1", 80, intstr.FromString("http"))},
		"by number":                           {service: service(webPods, "192.0.2.1", 80, intstr.FromInt32(8080)), want: "targets port 8080 of the app by number"},
		"by the number of port":               {service: service(webPods, "192.0.2.1", 8080, intstr.IntOrString{}), want: "targets port 8080 of the app by number"},
		"another port by number":              {service: service(webPods, "192.0.2.1", 80, intstr.FromInt32(9090))},
		"the sidecar's port by number":        {service: service(webPods, "192.0.2.1", 80, intstr.FromInt32(15480))},
		"headless":                            {service: service(webPods, corev1.ClusterIPNone, 8080, intstr.FromString("http")), want: "headless"},
		"headless, for a port of its own":     {service: service(webPods, corev1.ClusterIPNone, 7946, intstr.FromInt32(7946))},
		"of other pods":                       {service: service(map[string]string{"app": "db"}, "192.0.2.1", 80, intstr.FromInt32(8080))},
		"without a selector":                  {service: service(nil, "192.0.2.1", 80, intstr.FromInt32(8080))},
		"by number, of a pod without sidecar": {service: service(webPods, "192.0.2.1", 80, intstr.FromInt32(8080)), bare: true},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			pod := podView{
				name: "web-1", labels: webPods, injected: !tc.bare, readySince: noon.Add(-time.Hour),
				report: &v1alpha1.PodInjection{Injected: !tc.bare, Ports: []v1alpha1.InterceptedPort{{Name: "http", Listen: 15480, App: 8080}}},
			}
			got := notIntercepted([]corev1.Service{tc.service}, []podView{pod}, []ruleset.Selector{{MatchLabels: webPods}})
			switch {
			case tc.want == "" && len(got) > 0:
				t.Errorf("found %q, want nothing", got)
			case tc.want != "" && (len(got) != 1 || !strings.Contains(got[0], tc.want) || !strings.Contains(got[0], "front")):
				t.Errorf("found %q, want one sentence about front with %q", got, tc.want)
			}
		})
	}
}
