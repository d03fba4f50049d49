// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"crypto/tls"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"testing"

	"github.com/penstock-dev/penstock/internal/store"
)

// TestSidecarTellsOfTLS has an app that ends TLS itself: its clients are served, and
// the operator hears that nothing is limited there.
func TestSidecarTellsOfTLS(t *testing.T) {
	t.Parallel()
	server, rules := newStore(t)
	p := newPod(t).mount(t, settingsOf(server))
	if err := p.app.Close(); err != nil {
		t.Fatal(err)
	}
	var listener net.Listener
	eventually(t, func() (err error) {
		listener, err = net.Listen("tcp", p.address(appPort))
		return err
	})
	app := httptest.NewUnstartedServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	_ = app.Listener.Close()
	app.Listener = listener
	app.StartTLS()
	t.Cleanup(app.Close)
	publish(t, rules, limited(1))
	p.start(t).awaitReady(t)
	for range 3 {
		client := http.Client{Timeout: patience, Transport: &http.Transport{DisableKeepAlives: true, TLSClientConfig: &tls.Config{InsecureSkipVerify: true}}}
		answer, err := client.Get("https://" + p.address(listenPort))
		if err != nil {
			t.Fatal(err)
		}
		_ = answer.Body.Close()
	}
	p.awaitAck(t, rules, func(ack store.Ack) bool { return slices.Equal(ack.NotHTTP, []int32{appPort}) })
}
