//go:build e2e

// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/json"
	"encoding/pem"
	"math/big"
	"testing"
	"time"
)

// certificates are a CA, and a server's certificate of it with its key, each in PEM as
// a string of YAML.
type certificates struct{ ca, certificate, key string }

func newCertificates(t *testing.T, names ...string) certificates {
	t.Helper()
	template := func(number int64) *x509.Certificate {
		return &x509.Certificate{
			SerialNumber: big.NewInt(number), Subject: pkix.Name{CommonName: "Penstock e2e"}, DNSNames: names,
			NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(24 * time.Hour),
		}
	}
	authority := template(1)
	authority.IsCA, authority.BasicConstraintsValid, authority.KeyUsage = true, true, x509.KeyUsageCertSign
	authorityKey, serverKey := newKey(t), newKey(t)
	return certificates{
		ca:          quoted(t, "CERTIFICATE", sign(t, authority, authority, authorityKey, authorityKey)),
		certificate: quoted(t, "CERTIFICATE", sign(t, template(2), authority, serverKey, authorityKey)),
		key:         quoted(t, "PRIVATE KEY", encoded(t, serverKey)),
	}
}

func newKey(t *testing.T) *ecdsa.PrivateKey {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	return key
}

func sign(t *testing.T, certificate, authority *x509.Certificate, key, authorityKey *ecdsa.PrivateKey) []byte {
	t.Helper()
	signed, err := x509.CreateCertificate(rand.Reader, certificate, authority, key.Public(), authorityKey)
	if err != nil {
		t.Fatal(err)
	}
	return signed
}

func encoded(t *testing.T, key *ecdsa.PrivateKey) []byte {
	t.Helper()
	text, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// quoted is PEM as a string of JSON, which is one of YAML as well.
func quoted(t *testing.T, kind string, content []byte) string {
	t.Helper()
	text, err := json.Marshal(string(pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: content})))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
