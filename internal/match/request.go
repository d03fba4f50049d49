// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package match

import "github.com/penstock-dev/penstock/internal/ruleset"

// request remembers what several rules ask of one request.
type request struct {
	view         View
	loose        readings
	strict       readings
	address      []byte
	addressBits  int
	addressKnown bool
	bearings     []bearing
}

// pathsRead are the readings of a request's path as a policy sees it.
type pathsRead struct {
	// known is nil where no rule looks at paths, or the path has no reading.
	known *readings
	// canonical says that the path was sent in the spelling that is its only reading,
	// or that no rule looks at paths. Any other spelling loosens nothing.
	canonical bool
}

func (p *pathsRead) all() []string {
	if p.known == nil {
		return nil
	}
	return p.known.all()
}

// pathsOf reads the path if the policy looks at paths. It gives an error that wraps
// ErrBadPath if the path has no reading and a rule that may refuse looks at it.
func (p *policyMatcher) pathsOf(request *request) (pathsRead, error) {
	if !p.looksAtPaths {
		return pathsRead{canonical: true}, nil
	}
	known, err := request.readings(p.policy.PathMatching)
	switch {
	case err == nil:
		return pathsRead{known: known, canonical: known.canonical}, nil
	case p.refusesBadPaths:
		return pathsRead{}, err
	default:
		return pathsRead{}, nil
	}
}

func (r *request) readings(matching ruleset.PathMatching) (*readings, error) {
	known := &r.loose
	if matching == ruleset.PathStrict {
		known = &r.strict
	}
	if known.count == 0 {
		read, err := readTarget(r.view.Target(), matching)
		if err != nil {
			return nil, err
		}
		*known = read
	}
	return known, nil
}

// client returns the text of the client's network, empty if it has no address.
func (r *request) client(ipv6PrefixLength int) []byte {
	if r.addressKnown && r.addressBits == ipv6PrefixLength {
		return r.address
	}
	r.address, r.addressBits, r.addressKnown = r.address[:0], ipv6PrefixLength, true
	if network := ClientNetwork(r.view.Peer(), ipv6PrefixLength); network.IsValid() {
		r.address = appendNetwork(r.address, network)
	}
	return r.address
}
