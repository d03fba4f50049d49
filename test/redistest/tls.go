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

// authority is a certificate authority made for one server, the files of the
// certificate that it signed for that, and a certificate for clients.
type authority struct {
	pem    []byte
	caFile string
	// certificateFile and keyFile are the server's.
	certificateFile, keyFile string
	client                   signed
	// asksClients has the server want a certificate of each client.
	asksClients bool
}

// signed is a certificate with its key, PEM-encoded.
type signed struct{ certificate, key []byte }

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
	leaf := template(2, serverName)
	leaf.DNSNames, leaf.ExtKeyUsage = []string{serverName}, []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth}
	server, err := sign(leaf, ca, caKey)
	if err != nil {
		return nil, fmt.Errorf("the server's certificate: %w", err)
	}
	leaf = template(3, "client")
	leaf.ExtKeyUsage = []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth}
	client, err := sign(leaf, ca, caKey)
	if err != nil {
		return nil, fmt.Errorf("the clients' certificate: %w", err)
	}
	a := &authority{
		pem: encodePEM("CERTIFICATE", caDER), caFile: filepath.Join(dir, "ca.crt"), client: client,
		certificateFile: filepath.Join(dir, "server.crt"), keyFile: filepath.Join(dir, "server.key"),
	}
	for path, content := range map[string][]byte{a.caFile: a.pem, a.certificateFile: server.certificate, a.keyFile: server.key} {
		if err := os.WriteFile(path, content, 0o600); err != nil {
			return nil, fmt.Errorf("write %s: %w", path, err)
		}
	}
	return a, nil
}

// sign makes a key and a certificate for it.
func sign(leaf, ca *x509.Certificate, caKey *ecdsa.PrivateKey) (signed, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return signed{}, fmt.Errorf("make its key: %w", err)
	}
	der, err := x509.CreateCertificate(rand.Reader, leaf, ca, &key.PublicKey, caKey)
	if err != nil {
		return signed{}, fmt.Errorf("make it: %w", err)
	}
	keyDER, err := x509.MarshalECPrivateKey(key)
	if err != nil {
		return signed{}, fmt.Errorf("encode its key: %w", err)
	}
	return signed{certificate: encodePEM("CERTIFICATE", der), key: encodePEM("EC PRIVATE KEY", keyDER)}, nil
}

// config are the lines of redis.conf.
func (a *authority) config() []string {
	asks := "no"
	if a.asksClients {
		asks = "yes"
	}
	return []string{
		"tls-auth-clients " + asks, "tls-ca-cert-file " + a.caFile,
		"tls-cert-file " + a.certificateFile, "tls-key-file " + a.keyFile,
	}
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

func (a *authority) clientConfig() (*tls.Config, error) {
	pool := x509.NewCertPool()
	pool.AppendCertsFromPEM(a.pem)
	pair, err := tls.X509KeyPair(a.client.certificate, a.client.key)
	if err != nil {
		return nil, fmt.Errorf("read the clients' certificate: %w", err)
	}
	return &tls.Config{RootCAs: pool, ServerName: serverName, MinVersion: tls.VersionTLS12, Certificates: []tls.Certificate{pair}}, nil
}
