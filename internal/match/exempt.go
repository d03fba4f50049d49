// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package match

import (
	"crypto/sha256"
	"crypto/subtle"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/gaissmai/bart"

	"github.com/penstock-dev/penstock/internal/match/expression"
	"github.com/penstock-dev/penstock/internal/ruleset"
)

// exemptions lift the rules of one policy for requests that any of them is for.
type exemptions struct {
	// addresses are those of clients.
	addresses *bart.Lite
	// paths are alternatives that name a path and nothing else.
	paths []alternative
	// secrets are what headers may carry, by the header's name.
	secrets []exemptSecrets
	// when are expressions.
	when []writtenProgram
	// asker asks them; it is set once the policy is ready.
	asker asker
}

// exemptSecrets are the hashes of which the one value of a header must have one.
type exemptSecrets struct {
	header string
	hashes [][sha256.Size]byte
}

func compileExempt(exempt *ruleset.Exempt, matching ruleset.PathMatching) (*exemptions, error) {
	if exempt == nil {
		return nil, nil
	}
	addresses, err := addressTable(exempt.CIDRs)
	if err != nil {
		return nil, fmt.Errorf("exempt: cidrs: %w", err)
	}
	compiled := &exemptions{addresses: addresses}
	for i := range exempt.Paths {
		path, err := compileAlternative(ruleset.Match{Path: &exempt.Paths[i]}, matching)
		if err != nil {
			return nil, fmt.Errorf("exempt: paths: %w", err)
		}
		compiled.paths = append(compiled.paths, path)
	}
	for _, header := range exempt.Headers {
		if err := compiled.addSecret(header); err != nil {
			return nil, fmt.Errorf("exempt: header %q: %w", header.Name, err)
		}
	}
	for i, text := range exempt.When {
		program, err := expression.Compile(expression.Condition, text)
		if err != nil {
			return nil, fmt.Errorf("exempt: when: %w", err)
		}
		compiled.when = append(compiled.when, writtenProgram{program, fmt.Sprintf("exempt.when[%d]", i)})
	}
	return compiled, nil
}

func (e *exemptions) addSecret(header ruleset.ExemptHeader) error {
	if header.Name == "" || header.Name != strings.ToLower(header.Name) {
		return errors.New("the name is not in lower case")
	}
	decoded, err := hex.DecodeString(header.SHA256)
	if err != nil || len(decoded) != sha256.Size {
		return fmt.Errorf("sha256 is not %d hexadecimal digits", 2*sha256.Size)
	}
	at := slices.IndexFunc(e.secrets, func(known exemptSecrets) bool { return known.header == header.Name })
	if at < 0 {
		at = len(e.secrets)
		e.secrets = append(e.secrets, exemptSecrets{header: header.Name})
	}
	e.secrets[at].hashes = append(e.secrets[at].hashes, [sha256.Size]byte(decoded))
	return nil
}

func (e *exemptions) looksAtPaths() bool {
	return e != nil && (len(e.paths) > 0 || slices.ContainsFunc(e.when, func(program writtenProgram) bool { return program.LooksAtPaths() }))
}

// exempts reports whether the policy's rules are lifted for the request: by an exemption,
// or since it is a preflight and the policy lets scripts read its answers.
func (p *policyMatcher) exempts(request *request, paths *pathsRead) bool {
	switch {
	case p.policy.Response.EchoOrigin && isPreflight(request.view):
		return true
	case p.exempt == nil:
		return false
	case p.exempt.hasAddress(request.client(p.client)):
		return true
	case p.exempt.hasPath(paths):
		return true
	case p.exempt.hasSecret(request.view):
		return true
	default:
		return p.exempt.holds(request, paths)
	}
}

// holds reports whether an expression holds. Those that look at the path do so only of
// one in canonical form, and one that fails does not hold.
func (e *exemptions) holds(request *request, paths *pathsRead) bool {
	how := met{path: firstOf(paths.all())}
	for i := range e.when {
		program := &e.when[i]
		if program.LooksAtPaths() && (!paths.canonical || paths.known == nil) {
			continue
		}
		if holds, _ := e.asker.holds(request, program, &how); holds {
			return true
		}
	}
	return false
}

func (e *exemptions) hasAddress(client knownClient) bool {
	return client.address.IsValid() && e.addresses.Contains(client.address)
}

// hasPath looks only at a path in canonical form: any other may be another path to the
// app than the one that is exempt.
func (e *exemptions) hasPath(paths *pathsRead) bool {
	if !paths.canonical || paths.known == nil {
		return false
	}
	read := paths.all()
	for i := range e.paths {
		if e.paths[i].holdsFor(read, 0) && e.paths[i].knows(read, 0) {
			return true
		}
	}
	return false
}

// hasSecret takes the same time for every value of a length, whichever secret it is
// like and how much of it.
func (e *exemptions) hasSecret(view View) bool {
	found := 0
	for i := range e.secrets {
		values := view.Header(e.secrets[i].header)
		// Of several values it cannot be known which the app would take.
		if len(values) != 1 {
			continue
		}
		sum := sha256.Sum256([]byte(values[0]))
		for j := range e.secrets[i].hashes {
			found |= subtle.ConstantTimeCompare(sum[:], e.secrets[i].hashes[j][:])
		}
	}
	return found == 1
}
