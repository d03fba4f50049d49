// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package appprobe

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
)

const (
	// userAgent is what a kubelet calls itself, and apps leave out of their logs.
	userAgent = "kube-probe/penstock"
	// maxBodyBytes is how much of an answer is read, as by a kubelet.
	maxBodyBytes = 10 << 10
	// maxRedirects is how many redirects are followed, as by a kubelet.
	maxRedirects = 10
)

func newHTTPTransport() *http.Transport {
	return &http.Transport{
		// A kubelet does not verify either: certificates of apps name no pod.
		TLSClientConfig:   &tls.Config{InsecureSkipVerify: true},
		DisableKeepAlives: true, DisableCompression: true, ForceAttemptHTTP2: true,
		MaxResponseHeaderBytes: 64 << 10,
	}
}

// askHTTP wants a status from 200 to 399. Redirects to another host are not followed
// and pass, as a kubelet has it: what is there says nothing of this app.
func (p *Prober) askHTTP(ctx context.Context, get *HTTPGet) error {
	request, err := p.httpRequest(ctx, get)
	if err != nil {
		return err
	}
	client := http.Client{Transport: p.http, CheckRedirect: func(next *http.Request, via []*http.Request) error {
		switch {
		case next.URL.Hostname() != via[0].URL.Hostname():
			return http.ErrUseLastResponse
		case len(via) >= maxRedirects:
			return errors.New("stopped after 10 redirects")
		}
		return nil
	}}
	answer, err := client.Do(request)
	if err != nil {
		return fmt.Errorf("ask the app: %w", withoutURL(err))
	}
	defer func() { _ = answer.Body.Close() }()
	if _, err := io.CopyN(io.Discard, answer.Body, maxBodyBytes); err != nil && !errors.Is(err, io.EOF) {
		return fmt.Errorf("read the app's answer: %w", err)
	}
	if answer.StatusCode < http.StatusOK || answer.StatusCode >= http.StatusBadRequest {
		return fmt.Errorf("the app answers with status %d", answer.StatusCode)
	}
	return nil
}

func (p *Prober) httpRequest(ctx context.Context, get *HTTPGet) (*http.Request, error) {
	target, err := url.Parse(get.Path)
	if err != nil {
		// Paths that cannot be read are sent as they are, escaped.
		target = &url.URL{Path: get.Path}
	}
	target.Scheme, target.Host, target.User = "http", p.address(get.Port), nil
	if get.Scheme == schemeHTTPS {
		target.Scheme = "https"
	}
	if !strings.HasPrefix(target.Path, "/") {
		target.Path = "/" + target.Path
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, target.String(), nil)
	if err != nil {
		return nil, fmt.Errorf("make the request: %w", err)
	}
	for _, header := range get.HTTPHeaders {
		request.Header.Add(header.Name, header.Value)
	}
	request.Host = request.Header.Get("Host")
	for name, absent := range map[string]string{"User-Agent": userAgent, "Accept": "*/*"} {
		if _, given := request.Header[name]; !given {
			request.Header.Set(name, absent)
		} else if request.Header.Get(name) == "" {
			// An empty one is the way to send none.
			request.Header[name] = nil
		}
	}
	return request, nil
}

// withoutURL leaves out what the client adds to errors: whoever asks knows it.
func withoutURL(err error) error {
	if wrapped, ok := errors.AsType[*url.Error](err); ok {
		return wrapped.Err
	}
	return err
}
