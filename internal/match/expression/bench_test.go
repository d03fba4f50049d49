// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package expression

import (
	"runtime"
	"strconv"
	"strings"
	"testing"
)

func BenchmarkHolds(b *testing.B) {
	for name, text := range map[string]string{
		"header": "request.headers['x-plan'] == 'pro'",
		"method": "request.method == 'OPTIONS'",
		"two":    "request.method == 'GET' && request.headers['x-plan'] in ['pro', 'enterprise']",
		"cidr":   "request.clientIP.inCIDR('10.0.0.0/8')",
		"claim":  "request.jwt['idp']['sub'] == 'u1'",
		"match":  "request.path.matches('^/users/[0-9]+$')",
	} {
		b.Run(name, func(b *testing.B) {
			program, request := mustCompile(b, Condition, text), ordinary()
			b.ReportAllocs()
			for b.Loop() {
				if _, err := program.Holds(request); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// BenchmarkWorst has expressions that cost as much as they may.
func BenchmarkWorst(b *testing.B) {
	for name, text := range worst {
		b.Run(name, func(b *testing.B) {
			program, request := mustCompile(b, Condition, text), ordinary()
			for b.Loop() {
				_, _ = program.Holds(request)
			}
		})
	}
}

// worst are expressions of which an evaluation takes as long as can be.
var worst = map[string]string{
	"unmetered":    strings.Repeat("request.headers['x-8k'] < request.headers['x-8k'] || ", 17) + "false",
	"loops":        "[1,2,3,4,5,6,7,8,9,10].all(a, [1,2,3,4,5,6,7,8,9,10].all(b, [1,2,3,4,5,6,7,8,9,10].all(c, a+b+c > 0)))",
	"lists":        "[1,2,3,4,5,6,7,8,9,10].map(a, [1,2,3,4,5,6,7,8,9,10].map(b, [a,b,a,b,a,b,a,b,a,b])).size() == 1",
	"splits":       "request.headers['x-8k'].split('').size() > 1",
	"changes":      "[1,2,3,4,5,6,7,8].all(n, request.headers['x-8k'].lowerAscii().size() > 1)",
	"concatenated": "[1,2,3,4,5,6,7,8].all(n, (request.headers['x-8k'] + request.headers['x-8k']).size() > 1)",
	"match":        "[1,2,3,4,5,6,7,8].all(n, !request.headers['x-8k'].substring(0, 900).matches('(a|aa|aaa)*b'))",
	"sought":       "[1,2,3,4,5,6,7,8].all(n, !request.headers['x-8k'].contains(request.headers['x-8k'].substring(0, 4000) + 'b'))",
	"numbers":      "[1,2,3,4,5,6,7,8].all(n, double(request.headers['x-8k']) > 1.0 || true)",
}

// BenchmarkCompile tells the time and the memory that a program takes.
func BenchmarkCompile(b *testing.B) {
	mustCompile(b, Condition, "true")
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	var programs []*Program
	n := 0
	for b.Loop() {
		n++
		programs = append(programs, mustCompile(b, Condition, "request.headers['x-plan'] == '"+strconv.Itoa(n)+"'"))
	}
	runtime.GC()
	runtime.ReadMemStats(&after)
	b.ReportMetric((float64(after.HeapAlloc)-float64(before.HeapAlloc))/float64(n), "heap-B/program")
	runtime.KeepAlive(programs)
}
