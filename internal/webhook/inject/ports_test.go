// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package inject

import "testing"

func TestSpeaksHTTP(t *testing.T) {
	t.Parallel()
	tests := map[string]bool{
		"http": true, "web": true, "http2": true, "h2c": true, "grpc": true,
		"http-api": true, "grpc-v1": true, "web-1": true, "h2c-x": true, "grpcweb": false,
		"https": false, "http-tls": false, "grpcs": false, "webhook": false, "web-webhook": false,
		"http-metrics": false, "metrics": false, "httpx": false, "website": false, "HTTP": false,
		"api": false, "": false, "app-8080": false, "my-http": false,
	}
	for name, want := range tests {
		if got := speaksHTTP(name); got != want {
			t.Errorf("speaksHTTP(%q) = %v, want %v", name, got, want)
		}
	}
}

func TestEveryReasonHasASentence(t *testing.T) {
	t.Parallel()
	for _, reason := range []string{
		ReasonAlreadyInjected, ReasonOptedOut, ReasonHostNetwork, ReasonNoHTTPPorts, ReasonUnknownPort, ReasonPortNameTaken,
		ReasonNameTaken, ReasonNoFreePort, ReasonUnsupportedVersion, ReasonWindows, ReasonStaticPod, ReasonDrainSeconds,
		ReasonForwardedFor, ReasonAppHost, ReasonMalformed,
	} {
		if sentences[reason] == "" {
			t.Errorf("reason %s has no sentence", reason)
		}
	}
	if len(sentences) != 15 {
		t.Errorf("%d sentences, want one for each of 15 reasons", len(sentences))
	}
}
