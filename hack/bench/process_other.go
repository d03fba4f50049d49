// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build !linux

package main

import "syscall"

func dieWithParent() *syscall.SysProcAttr { return nil }

func pinApart(int) (string, error) {
	return "Redis and the callers share the cores: pinning needs Linux", nil
}
