// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"os"

	"github.com/penstock-dev/penstock/internal/ruleset"
	"github.com/penstock-dev/penstock/internal/store"
)

// identityKeyBytes is the length of a key that is made for a rule set without one.
const identityKeyBytes = 32

// readRulesFile reads a rule set to try out: as JSON, or as it was published.
func readRulesFile(path string) (store.Update, error) {
	content, err := os.ReadFile(path)
	if err != nil {
		return store.Update{}, fmt.Errorf("flag --rules: %w; name a file with a compiled rule set in JSON", err)
	}
	update, err := parseRules(content)
	if err != nil {
		return store.Update{}, fmt.Errorf("flag --rules: read %s: %w", path, err)
	}
	return update, nil
}

func parseRules(content []byte) (store.Update, error) {
	var published ruleset.Published
	if err := json.Unmarshal(content, &published); err != nil {
		return store.Update{}, fmt.Errorf("it is no JSON object: %w", err)
	}
	if len(published.Body) > 0 {
		rs, err := ruleset.Decode(published.Body)
		return store.Update{Sequence: published.Sequence, Revision: published.Revision, RuleSet: rs}, err
	}
	rs, err := parsePlainRules(content)
	return store.Update{Revision: ruleset.Revision(content), RuleSet: rs}, err
}

// parsePlainRules reads a rule set that a person may have written: what it does
// not know it refuses, since a misspelt field would silently not limit.
func parsePlainRules(content []byte) (*ruleset.RuleSet, error) {
	decoder := json.NewDecoder(bytes.NewReader(content))
	decoder.DisallowUnknownFields()
	rs := &ruleset.RuleSet{}
	if err := decoder.Decode(rs); err != nil {
		return nil, fmt.Errorf("it is no compiled rule set: %w", err)
	}
	if rs.Format != ruleset.Format {
		return nil, fmt.Errorf("%w: field format is %d, this program reads %d", ruleset.ErrUnsupportedFormat, rs.Format, ruleset.Format)
	}
	for _, policy := range rs.Policies {
		for _, rule := range policy.Rules {
			for _, limit := range rule.AllLimits() {
				if limit.Key == "" {
					return nil, fmt.Errorf("limit %q of rule %q of policy %q has no key; limits without one would share a count", limit.Name, rule.Name, policy.Name)
				}
			}
		}
	}
	if len(rs.IdentityKey) == 0 {
		rs.IdentityKey = make([]byte, identityKeyBytes)
		if _, err := rand.Read(rs.IdentityKey); err != nil {
			return nil, errors.New("make an identity key: " + err.Error())
		}
	}
	return rs, nil
}
