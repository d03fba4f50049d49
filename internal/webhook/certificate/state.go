// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package certificate

import (
	"bytes"
	"crypto/x509"
	"encoding/pem"
	"time"
)

// Keys of the Secret. The first three are the usual ones of kubernetes.io/tls.
const (
	authorityKey       = "ca.crt"
	certificateKey     = "tls.crt"
	privateKey         = "tls.key"
	nextAuthorityKey   = "next-ca.crt"
	nextCertificateKey = "next-tls.crt"
	nextPrivateKey     = "next-tls.key"
	formerAuthorityKey = "previous-ca.crt"
)

// state is what the Secret holds.
type state struct {
	// current is served, next will be once it is trusted everywhere; nil if none.
	current, next *pair
	// previous is the authority of the pair before, which a late replica may
	// still serve; nil if none.
	previous []byte
}

// decodeState reads a Secret. What is damaged counts as absent and is made anew.
func decodeState(data map[string][]byte) state {
	read := func(authority, certificate, key string) *pair {
		p, err := parsePair(data[authority], data[certificate], data[key])
		if err != nil {
			return nil
		}
		return p
	}
	return state{
		current:  read(authorityKey, certificateKey, privateKey),
		next:     read(nextAuthorityKey, nextCertificateKey, nextPrivateKey),
		previous: data[formerAuthorityKey],
	}
}

func (s state) encode() map[string][]byte {
	data := map[string][]byte{
		authorityKey:   s.current.authority,
		certificateKey: s.current.certificate,
		privateKey:     s.current.key,
	}
	if s.next != nil {
		data[nextAuthorityKey], data[nextCertificateKey], data[nextPrivateKey] = s.next.authority, s.next.certificate, s.next.key
	}
	if s.previous != nil {
		data[formerAuthorityKey] = s.previous
	}
	return data
}

// policy says when what happens.
type policy struct {
	names    []string
	lifetime time.Duration
	// settle is how long a new authority must have been published before its
	// certificate is served, for API servers that are late to hear of it.
	settle time.Duration
}

// advance is the state that should follow, and whether it differs. Trusted is the
// caBundle that the API servers have now.
func (s state) advance(p policy, trusted []byte, now time.Time) (state, bool, error) {
	switch {
	case s.current == nil, s.next == nil && !now.Before(s.current.expires()):
		// Nothing can be served, so there is nothing to overlap with.
		fresh, err := newPair(p.names, now, p.lifetime)
		return state{current: fresh}, err == nil, err
	case s.next != nil && s.mayPromote(p, trusted, now):
		return state{current: s.next, previous: s.current.authority}, true, nil
	case s.next == nil && s.current.due(p.names, now):
		fresh, err := newPair(p.names, now, p.lifetime)
		return state{current: s.current, next: fresh, previous: s.previous}, err == nil, err
	case s.previous != nil && expired(s.previous, now):
		return state{current: s.current, next: s.next}, true, nil
	}
	return s, false, nil
}

func (s state) mayPromote(p policy, trusted []byte, now time.Time) bool {
	settled := !now.Before(s.next.made().Add(p.settle)) || !now.Before(s.current.expires())
	return settled && s.next.trustedBy(trusted)
}

// bundle are all authorities that API servers have to trust, serving included: a
// replica may serve a pair that somebody deleted from the Secret.
func (s state) bundle(serving *pair) []byte {
	var bundle []byte
	add := func(authority []byte) {
		if len(authority) > 0 && !bytes.Contains(bundle, authority) {
			bundle = append(bundle, authority...)
		}
	}
	for _, p := range []*pair{s.current, s.next} {
		if p != nil {
			add(p.authority)
		}
	}
	add(s.previous)
	if serving != nil {
		add(serving.authority)
	}
	return bundle
}

// expired holds for what is no certificate too.
func expired(authority []byte, now time.Time) bool {
	block, _ := pem.Decode(authority)
	if block == nil {
		return true
	}
	certificate, err := x509.ParseCertificate(block.Bytes)
	return err != nil || !now.Before(certificate.NotAfter)
}
