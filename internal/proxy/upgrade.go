// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package proxy

import (
	"errors"
	"fmt"
	"net/http"
	"strings"

	"golang.org/x/net/http/httpguts"
)

// keepOnlyWebSocket removes any upgrade but the one to WebSocket: behind
// "Upgrade: h2c" one counted request would open a tunnel for any number of
// uncounted ones.
func keepOnlyWebSocket(outbound http.Header) {
	if _, upgrades := outbound["Upgrade"]; upgrades && !isWebSocket(outbound) {
		outbound.Del("Upgrade")
		outbound.Del("Connection")
	}
}

func isWebSocket(header http.Header) bool {
	return strings.EqualFold(header.Get("Upgrade"), "websocket")
}

// asksForWebSocket reports whether a request's header opens a WebSocket.
func asksForWebSocket(header http.Header) bool {
	return isWebSocket(header) && httpguts.HeaderValuesContainsToken(header["Connection"], "Upgrade")
}

// errSwitched says that the app did what checkUpgrade refuses.
var errSwitched = errors.New("the app switched to a protocol unasked")

// checkUpgrade refuses a switch of protocols that the client did not ask for.
// The error makes the reverse proxy close the app's connection, which it leaves
// open where it finds the mismatch itself (golang/go#80875).
func checkUpgrade(response *http.Response) error {
	if response.StatusCode != http.StatusSwitchingProtocols {
		return nil
	}
	if !isWebSocket(response.Header) || !isWebSocket(response.Request.Header) {
		return fmt.Errorf("%w: %q", errSwitched, response.Header.Get("Upgrade"))
	}
	return nil
}
