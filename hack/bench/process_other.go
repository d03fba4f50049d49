// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build !linux

package main

import "syscall"

func dieWithParent() *syscall.SysProcAttr { return nil }

func pinApart(int) (string, error) {
	return "Redis and the callers share the cores: pinning needs Linux", nil
}

func pin(int, int) error { return nil }

func pinProxyApart(int) (proxies, others int, how string, err error) {
	return -1, -1, "All share the cores: pinning needs Linux", nil
}
