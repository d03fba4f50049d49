// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package faults

import (
	"context"
	"os"
	"testing"

	"github.com/redis/go-redis/v9"
)

func TestMain(m *testing.M) {
	redis.SetLogger(quiet{})
	if text := os.Getenv(workerOptions); text != "" {
		os.Exit(beWorker(text, os.Stdin, os.Stdout))
	}
	os.Exit(m.Run())
}

// quiet keeps the client library from writing into the table.
type quiet struct{}

// Printf writes nothing.
func (quiet) Printf(context.Context, string, ...any) {}
