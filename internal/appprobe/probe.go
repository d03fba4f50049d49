// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package appprobe

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"net/textproto"
	"regexp"
	"strings"
	"time"
)

// Set are probes by name, such as "web/readiness".
type Set map[string]Probe

// Probe is what is asked of the app, in the words of a pod's spec. It names exactly one
// of HTTPGet, TCPSocket and GRPC.
type Probe struct {
	HTTPGet   *HTTPGet   `json:"httpGet,omitempty"`
	TCPSocket *TCPSocket `json:"tcpSocket,omitempty"`
	GRPC      *GRPC      `json:"grpc,omitempty"`
	// TimeoutSeconds bounds the probe; absent is 1, as in a pod's spec.
	TimeoutSeconds int `json:"timeoutSeconds,omitempty"`
}

// HTTPGet asks for an answer with a status from 200 to 399.
type HTTPGet struct {
	// Path may have a query; absent is "/".
	Path string `json:"path,omitempty"`
	Port int    `json:"port"`
	// Scheme is HTTP, also if absent, or HTTPS, whose certificate is not verified.
	Scheme      string   `json:"scheme,omitempty"`
	HTTPHeaders []Header `json:"httpHeaders,omitempty"`
}

// Header is a field of the request; Host becomes its authority.
type Header struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

// TCPSocket asks for a connection.
type TCPSocket struct {
	Port int `json:"port"`
}

// GRPC asks grpc.health.v1.Health for SERVING.
type GRPC struct {
	Port int `json:"port"`
	// Service absent is the server as a whole.
	Service string `json:"service,omitempty"`
}

// The schemes of HTTPGet.
const (
	schemeHTTP  = "HTTP"
	schemeHTTPS = "HTTPS"
)

// maxProbes is how many probes a set has at most: three of each of many containers.
const maxProbes = 256

// maxTimeoutSeconds bounds a probe's timeout.
const maxTimeoutSeconds = 3600

var nameSyntax = regexp.MustCompile(`^[a-z0-9]([-a-z0-9]*[a-z0-9])?(/[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$`)

// ParseSet reads a JSON object of probes by name. What it does not know it refuses,
// since a probe that is performed otherwise than declared says nothing.
func ParseSet(text string) (Set, error) {
	const want = `want a JSON object of probes by name, such as {"web/readiness": {"httpGet": {"port": 8080, "path": "/ready"}}}`
	decoder := json.NewDecoder(bytes.NewBufferString(text))
	decoder.DisallowUnknownFields()
	var set Set
	if err := decoder.Decode(&set); err != nil {
		return nil, fmt.Errorf("%w; %s", err, want)
	}
	if decoder.More() {
		return nil, errors.New("there is more after the JSON object; " + want)
	}
	if len(set) > maxProbes {
		return nil, fmt.Errorf("%d probes are too many, at most %d", len(set), maxProbes)
	}
	for name, probe := range set {
		if !nameSyntax.MatchString(name) {
			return nil, fmt.Errorf("probe %q: its name is part of a path: write lower case letters, digits, hyphens, and slashes between them", name)
		}
		if err := probe.check(); err != nil {
			return nil, fmt.Errorf("probe %q: %w", name, err)
		}
	}
	return set, nil
}

func (p *Probe) check() error {
	kinds := 0
	var err error
	if p.HTTPGet != nil {
		kinds, err = kinds+1, p.HTTPGet.check()
	}
	if p.TCPSocket != nil {
		kinds, err = kinds+1, errors.Join(err, checkPort("tcpSocket.port", p.TCPSocket.Port))
	}
	if p.GRPC != nil {
		kinds, err = kinds+1, errors.Join(err, checkPort("grpc.port", p.GRPC.Port))
	}
	switch {
	case kinds != 1:
		return errors.New("it names none or several of httpGet, tcpSocket and grpc: write one")
	case p.TimeoutSeconds < 0 || p.TimeoutSeconds > maxTimeoutSeconds:
		return fmt.Errorf("timeoutSeconds is %d: write 1 to %d, or leave it out for 1", p.TimeoutSeconds, maxTimeoutSeconds)
	}
	return err
}

func (h *HTTPGet) check() error {
	if h.Scheme != "" && h.Scheme != schemeHTTP && h.Scheme != schemeHTTPS {
		return fmt.Errorf("httpGet.scheme is %q: write %s or %s", h.Scheme, schemeHTTP, schemeHTTPS)
	}
	for _, header := range h.HTTPHeaders {
		if header.Name == "" || strings.ContainsAny(header.Name+header.Value, "\r\n\x00") {
			return fmt.Errorf("httpGet.httpHeaders: %q is no field of a request", textproto.TrimString(header.Name))
		}
	}
	return checkPort("httpGet.port", h.Port)
}

func checkPort(field string, port int) error {
	if port < 1 || port > 65535 {
		return fmt.Errorf("%s is %d: write a number from 1 to 65535; names of ports are not known here", field, port)
	}
	return nil
}

// timeout is how long the probe may take.
func (p *Probe) timeout() time.Duration {
	return time.Duration(max(p.TimeoutSeconds, 1)) * time.Second
}
