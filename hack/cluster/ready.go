// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"strings"
	"time"
)

const etcdURL = "http://127.0.0.1:2379"

// The questions below are asked from inside the node's network namespace.

func etcdReady(ctx context.Context) error {
	_, err := get(ctx, http.DefaultClient, etcdURL+"/health", "")
	return err
}

func apiServerReady(ctx context.Context) error {
	_, err := askAPIServer(ctx, "/readyz")
	return err
}

func containerdReady(ctx context.Context) error {
	connection, err := (&net.Dialer{}).DialContext(ctx, "unix", containerdSocket())
	if err != nil {
		return err
	}
	return connection.Close()
}

// clusterReady reports whether pods can be created, scheduled and resolved by name.
func clusterReady(ctx context.Context) error {
	if err := apiServerReady(ctx); err != nil {
		return err
	}
	body, err := askAPIServer(ctx, "/api/v1/nodes/"+nodeName)
	if err != nil {
		return err
	}
	if err := nodeReady(body); err != nil {
		return err
	}
	if _, err := askAPIServer(ctx, "/api/v1/namespaces/default/serviceaccounts/default"); err != nil {
		return err
	}
	return dnsReady(ctx)
}

// nodeReady reads the Ready condition of a Node.
func nodeReady(body []byte) error {
	var node struct {
		Status struct {
			Conditions []struct{ Type, Status, Message string }
		}
	}
	if err := json.Unmarshal(body, &node); err != nil {
		return fmt.Errorf("read the node: %w", err)
	}
	for _, condition := range node.Status.Conditions {
		if condition.Type != "Ready" {
			continue
		}
		if condition.Status == "True" {
			return nil
		}
		return fmt.Errorf("node %s is not ready: %s", nodeName, condition.Message)
	}
	return fmt.Errorf("node %s has not reported yet", nodeName)
}

func dnsReady(ctx context.Context) error {
	resolver := net.Resolver{PreferGo: true, Dial: func(ctx context.Context, network, _ string) (net.Conn, error) {
		return (&net.Dialer{}).DialContext(ctx, network, net.JoinHostPort(nodeIPv4, "53"))
	}}
	if _, err := resolver.LookupHost(ctx, "kubernetes.default.svc.cluster.local."); err != nil {
		return fmt.Errorf("resolve a Service by name: %w", err)
	}
	return nil
}

func askAPIServer(ctx context.Context, path string) ([]byte, error) {
	token, err := os.ReadFile(in("token"))
	if err != nil {
		return nil, fmt.Errorf("read the administrator's token: %w", err)
	}
	authority, err := os.ReadFile(in("certs/apiserver.crt"))
	if err != nil {
		return nil, fmt.Errorf("read the API server's certificate: %w", err)
	}
	pool := x509.NewCertPool()
	pool.AppendCertsFromPEM(authority)
	client := &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{RootCAs: pool}, DisableKeepAlives: true}}
	return get(ctx, client, apiServerURL+path, strings.TrimSpace(string(token)))
}

func get(ctx context.Context, client *http.Client, url, token string) ([]byte, error) {
	ctx, cancel := context.WithTimeout(ctx, 2*time.Second)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return nil, err
	}
	if token != "" {
		request.Header.Set("Authorization", "Bearer "+token)
	}
	response, err := client.Do(request)
	if err != nil {
		return nil, err
	}
	defer response.Body.Close()
	body, err := io.ReadAll(io.LimitReader(response.Body, 1<<20))
	if err != nil {
		return nil, fmt.Errorf("read the answer of %s: %w", url, err)
	}
	if response.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("get %s: status %d: %.200s", url, response.StatusCode, body)
	}
	return body, nil
}

// waitFor asks until the answer is yes or the time is over; the last refusal is the reason.
func waitFor(ctx context.Context, limit time.Duration, what string, ready func(context.Context) error) error {
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	tick := time.NewTicker(100 * time.Millisecond)
	defer tick.Stop()
	for {
		last := ready(ctx)
		if last == nil {
			return nil
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("wait %s for %s: %w", limit, what, last)
		case <-tick.C:
		}
	}
}
