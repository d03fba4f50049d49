// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package ruleset

import "net/textproto"

// Words name a source as people call it, such as "cookie session". An expression is
// named as such: its text is between a policy and who may read it.
func (s *KeySource) Words() string {
	switch s.Kind {
	case SourceHeader:
		return "header " + textproto.CanonicalMIMEHeaderKey(s.Name)
	case SourceJWTClaim:
		return "claim " + s.Name
	case SourceCookie:
		return "cookie " + s.Name
	case SourceQueryParam:
		return "query parameter " + s.Name
	case SourcePathParam:
		return "path parameter " + s.Name
	case SourcePath:
		return "path"
	case SourceMethod:
		return "method"
	case SourceHost:
		return "host"
	case SourceExpression:
		return "an expression"
	default:
		return "client address"
	}
}
