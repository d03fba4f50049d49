// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package certificate

import (
	"bytes"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"fmt"
	"math/big"
	"net"
	"slices"
	"time"
)

// backdated is how long before its making a certificate is valid from: API servers'
// clocks may be behind.
const backdated = time.Hour

// pair is a serving certificate and the authority that signed it, PEM-encoded.
type pair struct {
	authority, certificate, key []byte

	serving tls.Certificate
}

// newPair makes a pair that is valid for a lifetime from now.
func newPair(names []string, now time.Time, lifetime time.Duration) (*pair, error) {
	authorityKey, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, fmt.Errorf("make a key for the certificate authority: %w", err)
	}
	servingKey, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, fmt.Errorf("make a key for the serving certificate: %w", err)
	}
	authority, err := template("penstock-webhook-ca", now, lifetime)
	if err != nil {
		return nil, err
	}
	authority.IsCA, authority.BasicConstraintsValid, authority.MaxPathLenZero = true, true, true
	authority.KeyUsage = x509.KeyUsageCertSign
	authorityDER, err := x509.CreateCertificate(rand.Reader, authority, authority, &authorityKey.PublicKey, authorityKey)
	if err != nil {
		return nil, fmt.Errorf("sign the certificate authority: %w", err)
	}
	// Parsed for its key identifier, which the serving certificate names.
	if authority, err = x509.ParseCertificate(authorityDER); err != nil {
		return nil, fmt.Errorf("parse the certificate authority: %w", err)
	}
	serving, err := template(names[0], now, lifetime)
	if err != nil {
		return nil, err
	}
	serving.DNSNames = names
	serving.IPAddresses = []net.IP{net.IPv4(127, 0, 0, 1), net.IPv6loopback}
	serving.KeyUsage = x509.KeyUsageDigitalSignature
	serving.ExtKeyUsage = []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth}
	servingDER, err := x509.CreateCertificate(rand.Reader, serving, authority, &servingKey.PublicKey, authorityKey)
	if err != nil {
		return nil, fmt.Errorf("sign the serving certificate: %w", err)
	}
	keyDER, err := x509.MarshalPKCS8PrivateKey(servingKey)
	if err != nil {
		return nil, fmt.Errorf("encode the serving certificate's key: %w", err)
	}
	return parsePair(encode("CERTIFICATE", authorityDER), encode("CERTIFICATE", servingDER), encode("PRIVATE KEY", keyDER))
}

func template(commonName string, now time.Time, lifetime time.Duration) (*x509.Certificate, error) {
	serial, err := rand.Int(rand.Reader, new(big.Int).Lsh(big.NewInt(1), 127))
	if err != nil {
		return nil, fmt.Errorf("draw a serial number: %w", err)
	}
	return &x509.Certificate{
		SerialNumber: serial,
		Subject:      pkix.Name{CommonName: commonName},
		NotBefore:    now.Add(-backdated),
		NotAfter:     now.Add(lifetime),
	}, nil
}

func encode(kind string, der []byte) []byte {
	return pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der})
}

// parsePair reads a pair and checks that its parts belong together.
func parsePair(authority, certificate, key []byte) (*pair, error) {
	serving, err := tls.X509KeyPair(certificate, key)
	if err != nil {
		return nil, fmt.Errorf("read the serving certificate: %w", err)
	}
	roots := x509.NewCertPool()
	if !roots.AppendCertsFromPEM(authority) {
		return nil, errors.New("read the certificate authority: no certificate in it")
	}
	if _, err := serving.Leaf.Verify(x509.VerifyOptions{Roots: roots, CurrentTime: serving.Leaf.NotBefore}); err != nil {
		return nil, fmt.Errorf("check the serving certificate against its authority: %w", err)
	}
	return &pair{authority: authority, certificate: certificate, key: key, serving: serving}, nil
}

func (p *pair) made() time.Time    { return p.serving.Leaf.NotBefore.Add(backdated) }
func (p *pair) expires() time.Time { return p.serving.Leaf.NotAfter }

// due is whether a successor should be made: at two thirds of its life, or when
// the names under which the webhook is called have changed.
func (p *pair) due(names []string, now time.Time) bool {
	renewal := p.made().Add(p.expires().Sub(p.made()) / 3 * 2)
	return !now.Before(renewal) || !slices.Equal(p.serving.Leaf.DNSNames, names)
}

func (p *pair) trustedBy(bundle []byte) bool { return bytes.Contains(bundle, p.authority) }
