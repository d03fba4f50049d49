// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package expression

// Variable is what an expression may ask of a request.
type Variable string

// The variables, by their names in expressions.
const (
	// Method is the method as sent.
	Method Variable = "request.method"
	// Path is the path in canonical form, by the reading that met the rule.
	Path Variable = "request.path"
	// Host is the host in lower case, without port.
	Host Variable = "request.host"
	// Scheme is "http" or "https".
	Scheme Variable = "request.scheme"
	// ClientIP is the client's address as the policy reads it.
	ClientIP Variable = "request.clientIP"
	// Headers are the values of headers by name in lower case.
	Headers Variable = "request.headers"
	// Query are the values of query parameters by name, both decoded.
	Query Variable = "request.query"
	// PathParams are the segments that the template of the rule's path names.
	PathParams Variable = "request.pathParams"
	// JWT are the claims of verified tokens, by the name of the provider.
	JWT Variable = "request.jwt"
)

// texts are the variables that are one string, maps those that are looked up in.
var (
	texts = []Variable{Method, Path, Host, Scheme, ClientIP}
	maps  = []Variable{Headers, Query, PathParams, JWT}
)

// Request is what expressions see of a request.
type Request interface {
	// Text returns a variable that is one string; empty where there is none.
	Text(of Variable) string
	// Find looks up a name in a variable that is a map, and says how many bytes it
	// read for it. Several values of a name come joined with commas. The value is a
	// string, with JWT the claims of a provider as map[string]any, or an error if
	// there is more than can be read.
	Find(in Variable, name string) (value any, present bool, read int)
}
