// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package proxy

import (
	"log/slog"
	"net/http"
	"net/netip"
	"sync/atomic"
	"time"

	"github.com/penstock-dev/penstock/internal/match"
)

const (
	// sightingLife is for how long a proxy is told of after its last request was seen.
	sightingLife = time.Hour
	// sightingEvery is how often a proxy that is known is looked for again.
	sightingEvery = time.Minute
	// maxSightings bounds how many policies are watched, so that no ack grows with them.
	maxSightings = 64
)

// proxyFields are the fields in which a proxy tells of its client, that one first that
// a policy can best read the client's address from.
var proxyFields = []string{"X-Forwarded-For", "X-Real-Ip", "Forwarded", "X-Forwarded-Host", "X-Forwarded-Proto"}

// carrierGrade are the shared addresses of RFC 6598, which some clusters give to pods.
var carrierGrade = netip.MustParsePrefix("100.64.0.0/10")

// isNear reports whether an address is of the kind that proxies before an app have: a
// private one (RFC 1918, RFC 4193, RFC 6598), of the link, or of this host. From any
// other the fields say nothing, since everybody can send them.
func isNear(peer netip.Addr) bool {
	return peer.IsPrivate() || peer.IsLoopback() || peer.IsLinkLocalUnicast() || carrierGrade.Contains(peer)
}

// proxyFieldOf is the field by which a request tells that its peer is a proxy; nil if it
// does not.
func proxyFieldOf(request *http.Request) *string {
	for i := range proxyFields {
		if len(request.Header[proxyFields[i]]) == 0 {
			continue
		}
		if !isNear(peerOf(request)) {
			return nil
		}
		return &proxyFields[i]
	}
	return nil
}

// PeerIsProxy says that a policy takes a proxy for the client.
type PeerIsProxy struct {
	Policy PolicyID
	// Field is the header in which the proxy tells of its client.
	Field string
}

// sighting is what was seen of proxies by one policy.
type sighting struct {
	policy PolicyID
	// field is that of the first request that was seen; nil before.
	field atomic.Pointer[string]
	// last is when one was last seen, in Unix nanoseconds.
	last atomic.Int64
}

func (s *sighting) isFresh(now time.Time, within time.Duration) bool {
	return s.field.Load() != nil && now.Sub(time.Unix(0, s.last.Load())) < within
}

// peerSightings watches for proxies on behalf of the policies that take the peer for the
// client. Nil watches nothing.
type peerSightings struct {
	// byPolicy never changes.
	byPolicy map[PolicyID]*sighting
	ordered  []*sighting
	// settled is true while there is nothing left to be seen.
	settled atomic.Bool
}

// newPeerSightings watches for the policies of a matcher, and knows what was seen before
// by those among them that were watched already.
func newPeerSightings(matcher *match.Matcher, before *peerSightings) *peerSightings {
	policies := matcher.PeerAskers()
	if len(policies) == 0 {
		return nil
	}
	s := &peerSightings{byPolicy: make(map[PolicyID]*sighting)}
	for _, policy := range policies {
		id := PolicyID{Kind: policy.Kind, Name: policy.Name}
		if _, watched := s.byPolicy[id]; watched || len(s.ordered) == maxSightings {
			continue
		}
		found := &sighting{policy: id}
		if before != nil && before.byPolicy[id] != nil {
			found = before.byPolicy[id]
		}
		s.byPolicy[id] = found
		s.ordered = append(s.ordered, found)
	}
	return s
}

// look notes which policies take the peer of a request for the client though it is a
// proxy, and logs each that is new.
func (s *peerSightings) look(request *http.Request, matcher *match.Matcher, found *match.Result, logger *slog.Logger) {
	if s == nil || s.settled.Load() {
		return
	}
	field := proxyFieldOf(request)
	if field == nil {
		return
	}
	now := time.Now()
	for policy := range matcher.PeerAskersOf(found) {
		if of := s.byPolicy[PolicyID{Kind: policy.Kind, Name: policy.Name}]; of != nil && of.note(field, now) {
			logger.Warn("Requests come through a proxy, whose clients are one to this policy: set its clientIP to trust what the proxy says",
				"policy", policy.Name, "header", *field)
		}
	}
	for _, of := range s.ordered {
		if !of.isFresh(now, sightingEvery) {
			return
		}
	}
	s.settled.Store(true)
}

// note reports whether this was not known.
func (s *sighting) note(field *string, now time.Time) (isNew bool) {
	if s.isFresh(now, sightingEvery) {
		return false
	}
	known := s.field.Load()
	isNew = !s.isFresh(now, sightingLife)
	s.last.Store(now.UnixNano())
	return isNew && s.field.CompareAndSwap(known, field)
}

// told are the policies of which a proxy was seen lately. Those that were seen some time
// ago are looked for again from then on.
func (s *peerSightings) told(now time.Time) []PeerIsProxy {
	if s == nil {
		return nil
	}
	var told []PeerIsProxy
	for _, of := range s.ordered {
		if of.isFresh(now, sightingLife) {
			told = append(told, PeerIsProxy{Policy: of.policy, Field: *of.field.Load()})
		}
		if !of.isFresh(now, sightingEvery) {
			s.settled.Store(false)
		}
	}
	return told
}

// PeerIsProxy are the policies in force that take a proxy for the client, as was seen
// within the last hour. It has to be asked again and again: from a minute after the last
// request that was seen on, it has the next one looked for.
func (s *Server) PeerIsProxy() []PeerIsProxy {
	rules := s.gate.current.Load()
	if rules == nil {
		return nil
	}
	return rules.proxies.told(time.Now())
}
