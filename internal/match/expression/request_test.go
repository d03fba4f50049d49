// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package expression

import "strings"

// fakeRequest is a request written down.
type fakeRequest struct {
	texts  map[Variable]string
	values map[Variable]map[string]string
	claims map[string]map[string]any
	// read is what each look-up reads.
	read int
}

func (r *fakeRequest) Text(of Variable) string { return r.texts[of] }

func (r *fakeRequest) Find(in Variable, name string) (any, bool, int) {
	if in == JWT {
		claims, present := r.claims[name]
		return claims, present, 0
	}
	value, present := r.values[in][name]
	return value, present, r.read
}

func ordinary() *fakeRequest {
	return &fakeRequest{
		texts: map[Variable]string{Method: "GET", Path: "/users/7", Host: "shop.example.com", Scheme: "http", ClientIP: "10.1.2.3"},
		values: map[Variable]map[string]string{
			Headers:    {"x-plan": "pro", "x-many": "a,b", "x-empty": "", "x-number": "12", "x-long": strings.Repeat("a", maxValueBytes+1), "x-8k": strings.Repeat("a", maxValueBytes)},
			Query:      {"q": "é", "items": "7"},
			PathParams: {"id": "7"},
		},
		claims: map[string]map[string]any{"idp": {
			"sub": "u1", "level": float64(3), "share": 0.5, "admin": true, "roles": []any{"reader", "writer"},
			"org": map[string]any{"name": "acme"}, "none": nil,
		}},
	}
}
