// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package expression

import (
	"sync"

	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"
	"github.com/google/cel-go/interpreter"
)

// variables give an evaluation what it asks of a request.
type variables struct {
	request Request
	// read is how many bytes were read to find names.
	read int

	headers, query, pathParams, jwt lookup
}

var _ interpreter.Activation = (*variables)(nil)

// readyVariables spares evaluations their allocation.
var readyVariables = sync.Pool{New: func() any {
	v := &variables{}
	v.headers.find = func(name string) (ref.Val, bool) { return v.find(Headers, lowerASCII(name)) }
	v.query.find = func(name string) (ref.Val, bool) { return v.find(Query, name) }
	v.pathParams.find = func(name string) (ref.Val, bool) { return v.find(PathParams, name) }
	v.jwt.find = func(name string) (ref.Val, bool) { return v.find(JWT, name) }
	// Claims of a provider that verified no token are absent in turn.
	v.jwt.absent = noClaims
	return v
}}

// ResolveName returns the value of a variable.
func (v *variables) ResolveName(name string) (any, bool) {
	switch variable := Variable(name); variable {
	case Headers:
		return &v.headers, true
	case Query:
		return &v.query, true
	case PathParams:
		return &v.pathParams, true
	case JWT:
		return &v.jwt, true
	case Method, Path, Host, Scheme, ClientIP:
		return boundedText(v.request.Text(variable)), true
	}
	return nil, false
}

// Parent is none.
func (v *variables) Parent() interpreter.Activation { return nil }

func (v *variables) find(in Variable, name string) (ref.Val, bool) {
	if v.read > maxRead {
		return tooMuchRead, false
	}
	value, present, read := v.request.Find(in, name)
	v.read += read
	switch value := value.(type) {
	case string:
		return boundedText(value), present
	case map[string]any:
		return claims(value), present
	case error:
		return failed(TooLarge, "%v", value), false
	}
	return types.String(""), false
}

var (
	noClaims    = claims(nil)
	tooMuchRead = failed(TooLarge, "the expression reads more than %d bytes to find names", maxRead)
)
