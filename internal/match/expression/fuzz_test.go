// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package expression

import (
	"testing"
	"time"
)

// FuzzCompile has any text either refused, or evaluated within a time that is far more
// than an expression may take: this machine does other things too.
func FuzzCompile(f *testing.F) {
	for _, text := range worst {
		f.Add(text)
	}
	for _, text := range []string{
		"request.method == 'OPTIONS'", "request.headers['x-plan'] == 'pro'", "int(request.query['items'])",
		"request.jwt['idp'].roles.exists(r, r.matches('^a+$'))", "request.clientIP.inCIDR('10.0.0.0/8') ? 1 : 2u",
		"{'a': [1, 2.5, null, b'x']}.map(k, k.split('').filter(c, c in 'a'.split('')))", "request.headers", "request", "[].all(x, x",
	} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		for _, kind := range []Kind{Condition, Key, Cost} {
			program, err := Compile(kind, text)
			if err != nil {
				continue
			}
			started := time.Now()
			_, _ = program.evaluate(ordinary())
			if took := time.Since(started); took > 100*time.Millisecond {
				t.Errorf("%q took %v", text, took)
			}
		}
	})
}
