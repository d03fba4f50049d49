// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package proxy

import (
	"testing"

	"github.com/penstock-dev/penstock/test/proxyrun"
)

// TestProtocol drives the built program with clients that share no code with it. The
// app allows one request for /echo/limited, and one call of CacheableUnaryCall.
func TestProtocol(t *testing.T) {
	t.Parallel()
	const spec = `rules:
- {name: limited, matches: [{path: {value: /echo/limited}}, {path: {value: /grpc.testing.TestService/CacheableUnaryCall}}], limits: [{name: hour, requests: 1, window: 1h, algorithm: FixedWindow}]}
- {name: all, limits: [{name: all, requests: 1000000, window: 1h}]}`
	web := proxyrun.StartPenstock(t, "http://"+startApp(t, protocolApp()), spec)
	calls := proxyrun.StartPenstock(t, "http://"+startCallee(t), spec)
	secret := proxyrun.StartPenstock(t, "http://"+startTLSApp(t), spec)
	idleWeb, idleCalls, idleSecret := web.Idle(), calls.Idle(), secret.Idle()
	t.Run("clients", func(t *testing.T) {
		for name, test := range map[string]func(t *testing.T){
			"curl":      func(t *testing.T) { testCurl(t, web) },
			"nghttp2":   func(t *testing.T) { testNghttp2(t, web) },
			"gRPC":      func(t *testing.T) { testCalls(t, calls) },
			"WebSocket": func(t *testing.T) { testSockets(t, web) },
			"net/http":  func(t *testing.T) { testGo(t, web) },
			"by hand":   func(t *testing.T) { testByHand(t, web) },
			"HTTPS":     func(t *testing.T) { testTLS(t, secret) },
		} {
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				test(t)
			})
		}
	})
	web.WantIdle(idleWeb)
	calls.WantIdle(idleCalls)
	secret.WantIdle(idleSecret)
}
