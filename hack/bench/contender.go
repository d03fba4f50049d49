// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"errors"
	"fmt"
)

// clients is from how many clients the requests of a cell come.
const clients = 1000

// errRefused says that a limit that is meant to admit everything did not.
var errRefused = errors.New("the request was refused; the limit is to admit all")

// class is what a contender does: only the same is compared.
type class string

const (
	bucketClass      class = "bucket"
	windowClass      class = "window"
	slidingClass     class = "sliding"
	concurrencyClass class = "in flight"
)

// contender decides on requests of clients, one at a time for each caller.
type contender struct {
	name string
	// ours says that it is Penstock.
	ours  bool
	class class
	// check decides on one request of a client. A refusal is an error.
	check func(ctx context.Context, client int) error
	close func()
}

// open connects all contenders.
func open(ctx context.Context, address string) ([]contender, error) {
	opened, err := openPenstock(ctx, address)
	if err != nil {
		return nil, err
	}
	for _, next := range []func(context.Context, string) (contender, error){
		openRedisRate, openThrottled, openUlule, openGoRedis, openRueidis,
	} {
		other, err := next(ctx, address)
		if err != nil {
			return nil, fmt.Errorf("open a contender: %w", err)
		}
		opened = append(opened, other)
	}
	return opened, nil
}

// identity is what the sidecar makes of a client: 22 characters that reveal nothing.
func identity(client int) string {
	sum := sha256.Sum256(binary.BigEndian.AppendUint64(nil, uint64(client)))
	return base64.RawURLEncoding.EncodeToString(sum[:16])
}

// identities are those of the clients.
func identities() []string {
	made := make([]string, clients)
	for i := range made {
		made[i] = identity(i)
	}
	return made
}
