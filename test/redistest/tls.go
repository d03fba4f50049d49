// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package redistest

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"fmt"
	"math/big"
	"os"
	"path/filepath"
	"time"
)

const serverName = "redis.penstock.test"

// authority is a certificate authority made for one server, and the files of the
// certificate that it signed.
type authority struct {
	pem                      []byte
	certificateFile, keyFile string
}

func newAuthority(dir string) (*authority, error) {
	caKey, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, fmt.Errorf("make the CA's key: %w", err)
	}
	ca := template(1, "Test CA")
	ca.IsCA, ca.BasicConstraintsValid, ca.KeyUsage = true, true, x509.KeyUsageCertSign
	caDER, err := x509.CreateCertificate(rand.Reader, ca, ca, &caKey.PublicKey, caKey)
	if err != nil {
		return nil, fmt.Errorf("make the CA's certificate: %w", err)
	}
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, fmt.Errorf("make the server's key: %w", err)
	}
	leaf := template(2, serverName)
	leaf.DNSNames = []string{serverName}
	leaf.ExtKeyUsage = []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth}
	leafDER, err := x509.CreateCertificate(rand.Reader, leaf, ca, &key.PublicKey, caKey)
	if err != nil {
		return nil, fmt.Errorf("make the server's certificate: %w", err)
	}
	keyDER, err := x509.MarshalECPrivateKey(key)
	if err != nil {
		return nil, fmt.Errorf("encode the server's key: %w", err)
	}
	a := &authority{
		pem:             encodePEM("CERTIFICATE", caDER),
		certificateFile: filepath.Join(dir, "server.crt"), keyFile: filepath.Join(dir, "server.key"),
	}
	if err := os.WriteFile(a.certificateFile, encodePEM("CERTIFICATE", leafDER), 0o600); err != nil {
		return nil, fmt.Errorf("write the server's certificate: %w", err)
	}
	if err := os.WriteFile(a.keyFile, encodePEM("EC PRIVATE KEY", keyDER), 0o600); err != nil {
		return nil, fmt.Errorf("write the server's key: %w", err)
	}
	return a, nil
}

func template(serial int64, name string) *x509.Certificate {
	return &x509.Certificate{
		SerialNumber: big.NewInt(serial), Subject: pkix.Name{CommonName: name},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(24 * time.Hour),
	}
}

func encodePEM(kind string, der []byte) []byte {
	return pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der})
}

func (a *authority) clientConfig() *tls.Config {
	pool := x509.NewCertPool()
	pool.AppendCertsFromPEM(a.pem)
	return &tls.Config{RootCAs: pool, ServerName: serverName, MinVersion: tls.VersionTLS12}
}
