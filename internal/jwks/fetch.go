// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package jwks

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"time"
)

const (
	// MaxBytes is how large a key set may be.
	MaxBytes = 256 << 10
	// timeout bounds a fetch as a whole.
	timeout = 5 * time.Second
	// maxHeaderBytes bounds the header of an answer.
	maxHeaderBytes = 32 << 10
)

// NewClient makes a client that fetches over TLS only and follows no redirect: a
// policy names an address, and what answers there must not choose another. roots
// are the certificates to trust; nil are the system's.
func NewClient(roots *x509.CertPool) *http.Client {
	dialer := &net.Dialer{Timeout: timeout}
	return &http.Client{
		Timeout: timeout,
		Transport: &http.Transport{
			Proxy:                  http.ProxyFromEnvironment,
			DialContext:            dialer.DialContext,
			TLSClientConfig:        &tls.Config{MinVersion: tls.VersionTLS12, RootCAs: roots},
			TLSHandshakeTimeout:    timeout,
			ForceAttemptHTTP2:      true,
			MaxResponseHeaderBytes: maxHeaderBytes,
			// Minutes pass between two fetches, and a set that unpacks to more than it
			// weighs is no key set.
			DisableKeepAlives:  true,
			DisableCompression: true,
		},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
}

// fetch gets the text of a key set. Errors never hold what the server sent.
func fetch(ctx context.Context, client *http.Client, address string) ([]byte, error) {
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil || request.URL.Scheme != "https" {
		return nil, errors.New("its address is no https URL")
	}
	request.Header.Set("Accept", "application/jwk-set+json, application/json")
	answer, err := client.Do(request)
	if err != nil {
		return nil, withoutURL(err)
	}
	defer answer.Body.Close()
	switch {
	case answer.StatusCode >= 300 && answer.StatusCode < 400:
		return nil, fmt.Errorf("it was answered with a redirect (status %d), which is not followed: name the address that it leads to", answer.StatusCode)
	case answer.StatusCode != http.StatusOK:
		return nil, fmt.Errorf("it was answered with status %d, want 200", answer.StatusCode)
	}
	text, err := io.ReadAll(io.LimitReader(answer.Body, MaxBytes+1))
	if err != nil {
		return nil, fmt.Errorf("read the answer: %w", err)
	}
	if len(text) > MaxBytes {
		return nil, fmt.Errorf("the answer has more than %d bytes", MaxBytes)
	}
	return text, nil
}

// withoutURL drops the URL from an error of the client, as its query may be secret.
func withoutURL(err error) error {
	if inner, ok := errors.AsType[*url.Error](err); ok {
		return inner.Err
	}
	return err
}
