// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build !linux

package proxyrun

import "syscall"

// dieWithParent changes nothing: only Linux can tie a child to its parent.
func dieWithParent() *syscall.SysProcAttr { return nil }
