// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package proxyrun

import "syscall"

// dieWithParent ends a child when the tests end, however they end.
func dieWithParent() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
}
