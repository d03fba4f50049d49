// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package match

import (
	"fmt"
	"strings"

	"github.com/penstock-dev/penstock/internal/match/expression"
)

// maxQueryBytes is how long a query may be for expressions to look for a parameter.
const maxQueryBytes = 8 << 10

// headerRead is what looking up a header counts as, in bytes: it reads no others.
const headerRead = 16

// scope is what an expression sees of a request that met a rule.
type scope struct {
	request *request
	asker   *asker
	how     *met
}

var _ expression.Request = (*scope)(nil)

// Text returns a variable that is one string.
func (s *scope) Text(of expression.Variable) string {
	switch of {
	case expression.Method:
		return s.request.view.Method()
	case expression.Path:
		return s.how.path
	case expression.Host:
		return s.request.hostName()
	case expression.Scheme:
		return s.request.view.Scheme()
	case expression.ClientIP:
		if client := s.request.client(s.asker.client); client.address.IsValid() {
			return client.address.String()
		}
	}
	return ""
}

// Find looks up a header, a parameter of the query or of the path, or the claims that a
// provider verified.
func (s *scope) Find(in expression.Variable, name string) (value any, present bool, read int) {
	switch in {
	case expression.Headers:
		value, present = s.header(name)
		return value, present, headerRead
	case expression.Query:
		return s.parameter(name)
	case expression.JWT:
		claims := s.asker.providers.claims(s.request, name)
		return claims, claims != nil, 0
	case expression.PathParams:
		for i := range s.how.params {
			if s.how.params[i].Name == name {
				return s.how.params[i].Value, true, 0
			}
		}
	}
	return "", false, 0
}

func (s *scope) header(name string) (value string, present bool) {
	if name == hostHeader {
		host := s.request.hostName()
		return host, host != ""
	}
	values := s.request.view.Header(name)
	if len(values) == 1 {
		return values[0], true
	}
	return strings.Join(values, ","), len(values) > 0
}

// parameter joins the values of all parameters of a name, as the request's query is
// parted for now.
func (s *scope) parameter(name string) (value any, present bool, read int) {
	query := s.request.query()
	if len(query) > maxQueryBytes {
		return fmt.Errorf("the query has %d bytes, at most %d are looked at", len(query), maxQueryBytes), false, 0
	}
	read, joined := len(query), ""
	eachNamed(query, name, func(p *parameter) {
		if !s.request.parted.is(p) {
			return
		}
		text := unescape(p.value)
		if present {
			text = joined + "," + text
		}
		joined, present = text, true
		read += len(joined)
	})
	return joined, present, read
}
