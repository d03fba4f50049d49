// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package main

// image is one image of the table below: a program built from this repository, or
// one of the machine's with the shared libraries it names.
type image struct {
	Name    string // repository and tag are penstock.local/NAME:dev; the archive is NAME.tar
	Dir     string // module folder to build in, below the repository's root
	Package string // main package to build; when empty, Machine is set
	Machine string // path of a program of this machine
	// Package of Debian that holds Machine.
	Debian string
}

// images is all that make images builds. manager and sidecar are the product's; the
// others are for tests on the local cluster.
var images = []image{
	{Name: "manager", Dir: ".", Package: "./cmd/manager"},
	{Name: "sidecar", Dir: ".", Package: "./cmd/sidecar"},
	{Name: "pause", Dir: "hack/images", Package: "./pause"},
	{Name: "echo", Dir: ".", Package: "./test/echo"},
	{Name: "load", Dir: ".", Package: "./test/load"},
	{Name: "redis", Machine: "/usr/bin/redis-server", Debian: "redis-server"},
}

// entrypoint is where the image keeps its program.
func (i image) entrypoint() string {
	if i.Machine != "" {
		return i.Machine
	}
	return "/" + i.Name
}

func (i image) reference() string { return "penstock.local/" + i.Name + ":dev" }
