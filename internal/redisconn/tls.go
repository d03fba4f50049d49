// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package redisconn

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
)

// config returns nil, which means clear text, for nil. The settings are valid.
func (t *TLS) config() *tls.Config {
	if t == nil {
		return nil
	}
	config := &tls.Config{ServerName: t.ServerName, MinVersion: tls.VersionTLS12}
	if len(t.CA) > 0 {
		config.RootCAs = x509.NewCertPool()
		config.RootCAs.AppendCertsFromPEM(t.CA)
	}
	if pair, err := t.pair(); err == nil && pair != nil {
		config.Certificates = []tls.Certificate{*pair}
	}
	return config
}

// pair is our own certificate with its key; nil if there is none.
func (t *TLS) pair() (*tls.Certificate, error) {
	switch {
	case len(t.Certificate) == 0 && len(t.Key) == 0:
		return nil, nil
	case len(t.Key) == 0:
		return nil, errors.New("tls.key: it is empty, but tls.certificate is not; set both")
	case len(t.Certificate) == 0:
		return nil, errors.New("tls.certificate: it is empty, but tls.key is not; set both")
	}
	pair, err := tls.X509KeyPair(t.Certificate, t.Key)
	if err != nil {
		return nil, fmt.Errorf("tls.certificate: it is no PEM-encoded certificate with its key: %w", err)
	}
	return &pair, nil
}

func (t *TLS) validate() error {
	if t == nil {
		return nil
	}
	if len(t.CA) > 0 && !x509.NewCertPool().AppendCertsFromPEM(t.CA) {
		return errors.New("tls.ca: it holds no PEM-encoded certificate")
	}
	_, err := t.pair()
	return err
}
