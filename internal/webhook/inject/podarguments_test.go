// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package inject

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/penstock-dev/penstock/api/v1alpha1"
)

func TestPodArguments(t *testing.T) {
	t.Parallel()
	forwarded := func(how string) map[string]string { return map[string]string{v1alpha1.AnnotationForwardedFor: how} }
	host := func(host string) map[string]string { return map[string]string{v1alpha1.AnnotationAppHost: host} }
	tests := map[string]struct {
		annotations map[string]string
		// ofAll are the arguments of all pods.
		ofAll      []string
		want       []string
		wantReason string
	}{
		"none":                {},
		"Append":              {annotations: forwarded("Append"), want: []string{"--forwarded-for=Append"}},
		"Preserve":            {annotations: forwarded("Preserve"), want: []string{"--forwarded-for=Preserve"}},
		"lower case":          {annotations: forwarded("append"), wantReason: ReasonForwardedFor},
		"an empty word":       {annotations: forwarded(""), wantReason: ReasonForwardedFor},
		"another flag inside": {annotations: forwarded("Append --log-level=debug"), wantReason: ReasonForwardedFor},
		"loopback":            {annotations: host("127.0.0.1"), want: []string{"--app-host=127.0.0.1"}},
		"IPv6 loopback":       {annotations: host("::1"), want: []string{"--app-host=::1"}},
		"another address":     {annotations: host("192.0.2.7"), want: []string{"--app-host=192.0.2.7"}},
		"a name":              {annotations: host("localhost"), wantReason: ReasonAppHost},
		"an empty address":    {annotations: host(""), wantReason: ReasonAppHost},
		"address with port":   {annotations: host("127.0.0.1:8080"), wantReason: ReasonAppHost},
		"IPv6 in brackets":    {annotations: host("[::1]"), wantReason: ReasonAppHost},
		"with a zone":         {annotations: host("fe80::1%eth0"), wantReason: ReasonAppHost},
		"every address":       {annotations: host("0.0.0.0"), wantReason: ReasonAppHost},
		"multicast":           {annotations: host("ff02::1"), wantReason: ReasonAppHost},
		"others stay":         {annotations: host("::1"), ofAll: []string{"--log-level=debug"}, want: []string{"--app-host=::1", "--log-level=debug"}},
		"the pod's wins": {
			annotations: forwarded("Append"), ofAll: []string{"--forwarded-for=Preserve", "--log-level=debug"},
			want: []string{"--forwarded-for=Append", "--log-level=debug"},
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			ofPod, why := podArguments(&corev1.Pod{ObjectMeta: metav1.ObjectMeta{Annotations: tc.annotations}})
			if why.reason != tc.wantReason {
				t.Fatalf("refused for %q (%s), want %q", why.reason, why.subject, tc.wantReason)
			}
			if why != (refusal{}) {
				return
			}
			if diff := cmp.Diff(tc.want, argumentsAfter(ofPod, tc.ofAll)); diff != "" {
				t.Errorf("arguments (-want +got):\n%s", diff)
			}
		})
	}
}
