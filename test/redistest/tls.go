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
// certificate that it signed for that.
type authority struct {
	ca     *x509.Certificate
	key    *ecdsa.PrivateKey
	pem    []byte
	caFile string
	// certificateFile and keyFile are the server's.
	certificateFile, keyFile string
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
	a := &authority{
		ca: ca, key: caKey, pem: encodePEM("CERTIFICATE", caDER), caFile: filepath.Join(dir, "ca.crt"),
		certificateFile: filepath.Join(dir, "server.crt"), keyFile: filepath.Join(dir, "server.key"),
	}
	server, err := a.sign(leaf)
	if err != nil {
		return nil, err
	}
	for path, content := range map[string][]byte{a.caFile: a.pem, a.certificateFile: server.certificate, a.keyFile: server.key} {
		if err := os.WriteFile(path, content, 0o600); err != nil {
			return nil, fmt.Errorf("write %s: %w", path, err)
		}
	}
	return a, nil
}

// sign makes a key and a certificate for it.
func (a *authority) sign(leaf *x509.Certificate) (signed, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return signed{}, fmt.Errorf("make the key of %s: %w", leaf.Subject.CommonName, err)
	}
	der, err := x509.CreateCertificate(rand.Reader, leaf, a.ca, &key.PublicKey, a.key)
	if err != nil {
		return signed{}, fmt.Errorf("make the certificate of %s: %w", leaf.Subject.CommonName, err)
	}
	keyDER, err := x509.MarshalECPrivateKey(key)
	if err != nil {
		return signed{}, fmt.Errorf("encode the key of %s: %w", leaf.Subject.CommonName, err)
	}
	return signed{certificate: encodePEM("CERTIFICATE", der), key: encodePEM("EC PRIVATE KEY", keyDER)}, nil
}

// signClient makes a client's certificate.
func (a *authority) signClient(name string) (signed, error) {
	leaf := template(3, name)
	leaf.ExtKeyUsage = []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth}
	return a.sign(leaf)
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
	client, err := a.signClient("test")
	if err != nil {
		return nil, err
	}
	pair, err := tls.X509KeyPair(client.certificate, client.key)
	if err != nil {
		return nil, fmt.Errorf("read a client's certificate: %w", err)
	}
	return &tls.Config{RootCAs: pool, ServerName: serverName, MinVersion: tls.VersionTLS12, Certificates: []tls.Certificate{pair}}, nil
}
