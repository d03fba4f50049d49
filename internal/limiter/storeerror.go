// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package limiter

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"strings"

	"github.com/redis/go-redis/v9"

	"github.com/penstock-dev/penstock/internal/ruleset"
)

// Kinds of store errors, as metrics name them.
const (
	KindTimeout    = "timeout"
	KindConnection = "connection"
	KindReadOnly   = "readonly"
	KindForbidden  = "noperm"
	KindLogin      = "auth"
	KindScript     = "script"
	KindClock      = "clock"
	KindCrowded    = "crowded"
	KindOther      = "other"
)

// ErrBreakerOpen says that the store was not asked, since it failed too often.
var ErrBreakerOpen = errors.New("the store failed repeatedly and is not asked until it recovers")

// errNoConnection says that no connection to the store is open. One is being made
// in the background.
var errNoConnection = errors.New("no connection to the store is open; one is being made")

// errEmptyReply says that a script returned nothing, which it never does.
var errEmptyReply = errors.New("the script's reply is empty")

// errCrowded says that too many requests wait for the store already.
var errCrowded = errors.New("too many requests wait for the store")

// unsentError says why a request was given up before it was sent.
type unsentError struct{ cause error }

func (e unsentError) Error() string { return e.cause.Error() }

// Unwrap is the cause.
func (e unsentError) Unwrap() error { return e.cause }

// corruptError is about a counter that holds something else. It concerns one
// client, not the store.
type corruptError struct{ algorithm ruleset.Algorithm }

func (e *corruptError) Error() string {
	return fmt.Sprintf("the counter of a %s is corrupt; it expires by itself, or delete the key", e.algorithm)
}

// replyKinds are the kinds of Redis' error replies by how they begin.
var replyKinds = []struct{ prefix, kind string }{
	{"READONLY", KindReadOnly},
	{"NOPERM", KindForbidden},
	{"ERR The user executing the script", KindForbidden},
	{"NOAUTH", KindLogin},
	{"WRONGPASS", KindLogin},
	{"ERR AUTH", KindLogin},
	{"NOSCRIPT", KindScript},
	{"ERR Error", KindScript},
	{"ERR unknown algorithm", KindScript},
	{"ERR user_script", KindScript},
}

// ErrorKind is the kind of an error that the store gave.
func ErrorKind(err error) string {
	var reply redis.Error
	var network net.Error
	var operation *net.OpError
	var corrupt *corruptError
	switch {
	case errors.Is(err, errOutsideCalendar):
		return KindClock
	case errors.As(err, &corrupt):
		return KindScript
	case errors.Is(err, errCrowded):
		return KindCrowded
	case errors.As(err, &reply):
		return kindOfReply(reply.Error())
	case errors.Is(err, errNoConnection):
		return KindConnection
	case errors.Is(err, context.DeadlineExceeded), errors.Is(err, redis.ErrPoolTimeout), errors.As(err, &network) && network.Timeout():
		return KindTimeout
	case errors.As(err, &operation), errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF),
		errors.Is(err, net.ErrClosed), errors.Is(err, redis.ErrClosed):
		return KindConnection
	default:
		return KindOther
	}
}

func kindOfReply(text string) string {
	for _, known := range replyKinds {
		if strings.HasPrefix(text, known.prefix) {
			return known.kind
		}
	}
	return KindOther
}
