// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package match

import (
	"fmt"
	"strings"
	"sync"

	"github.com/penstock-dev/penstock/internal/match/expression"
	"github.com/penstock-dev/penstock/internal/ruleset"
)

// fewParams is how many parameters of a template cost no allocation.
const fewParams = 4

// request remembers what several rules ask of one request.
type request struct {
	view    View
	loose   readings
	strict  readings
	clients [fewClients]knownClient
	// host is in canonical form, once it is known.
	host      string
	hostKnown bool
	// scope is what the expression at hand sees.
	scope scope
	// parted says how the expression at hand sees the query.
	parted separation
	// failed are the expressions that gave no value.
	failed []ExpressionError
	// badPath says why the path is refused though it has readings; nil if it is not.
	badPath error
	// bearings are the tokens that were looked at.
	bearings []bearing
	// doubted are the providers, by policy, one of which disbelieved a token.
	doubted []providers
	// params is room for the parameters of a template.
	params [fewParams]PathParam
}

// requests spare each request the allocation of what is remembered of it.
var requests = sync.Pool{New: func() any { return new(request) }}

func newRequest(view View) *request {
	r := requests.Get().(*request)
	r.view = view
	return r
}

func (r *request) release() {
	*r = request{}
	requests.Put(r)
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

// pathsOf are the readings that the policy's rules compare, once they were read.
func (p *policyMatcher) pathsOf(request *request) pathsRead {
	if !p.looksAtPaths {
		return pathsRead{canonical: true}
	}
	known := request.readings(p.policy.PathMatching)
	if known.count == 0 {
		return pathsRead{}
	}
	return pathsRead{known: known, canonical: known.canonical}
}

func (r *request) readings(matching ruleset.PathMatching) *readings {
	if matching == ruleset.PathStrict {
		return &r.strict
	}
	return &r.loose
}

// readPaths reads the path in each way in which a rule looks at it. It gives an error
// that wraps ErrBadPath if the path has no reading and a rule that may refuse looks at
// it.
func (m *Matcher) readPaths(request *request) error {
	err := m.readPath(request, ruleset.PathLoose, m.index.looksAtLoose)
	if strictly := m.readPath(request, ruleset.PathStrict, m.index.looksAtStrict); strictly != nil {
		err = strictly
	}
	if err == nil {
		return nil
	}
	port := request.view.LocalPort()
	for i := range m.policies {
		policy := &m.policies[i]
		if !policy.refusesBadPaths || !policy.covers(port) {
			continue
		}
		if paths := policy.pathsOf(request); paths.known == nil && !policy.exempts(request, &paths) {
			return fmt.Errorf("read path for %s %q: %w", policy.policy.Kind, policy.policy.Name, err)
		}
	}
	return nil
}

func (m *Matcher) readPath(request *request, matching ruleset.PathMatching, look bool) error {
	if !look {
		return nil
	}
	return request.readings(matching).readTarget(request.view.Target(), matching)
}

func (r *request) hostName() string {
	if !r.hostKnown {
		r.host, r.hostKnown = canonicalHost(r.view.Host()), true
	}
	return r.host
}

// hasTwoQueries reports whether apps part the query in two ways and the expression may
// tell.
func (r *request) hasTwoQueries(program *expression.Program) bool {
	return program.LooksAtQuery() && strings.Contains(r.query(), ";")
}

func (r *request) query() string {
	_, query, _ := strings.Cut(r.view.Target(), "?")
	return query
}
