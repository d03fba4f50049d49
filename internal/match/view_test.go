// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package match

import (
	"net/netip"
)

// fakeView is a request written down.
type fakeView struct {
	method, target, host string
	headers              map[string][]string
	peer                 netip.Addr
	port                 int32
}

func (v *fakeView) Method() string              { return v.method }
func (v *fakeView) Target() string              { return v.target }
func (v *fakeView) Host() string                { return v.host }
func (v *fakeView) Header(name string) []string { return v.headers[name] }
func (v *fakeView) Peer() netip.Addr            { return v.peer }
func (v *fakeView) Scheme() string              { return "http" }
func (v *fakeView) LocalPort() int32            { return v.port }
