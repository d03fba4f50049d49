// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package limiter

import (
	"context"
	"errors"
	"io"
	"net"
	"strings"

	"github.com/redis/go-redis/v9"
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
	KindOther      = "other"
)

// ErrBreakerOpen says that the store was not asked, since it failed too often.
var ErrBreakerOpen = errors.New("the store failed repeatedly and is not asked until it recovers")

// corruptPrefix begins the script's error about a counter that it cannot read.
const corruptPrefix = "CORRUPT "

// replyKinds are the kinds of Redis' error replies by how they begin.
var replyKinds = []struct{ prefix, kind string }{
	{"READONLY", KindReadOnly},
	{"NOPERM", KindForbidden},
	{"ERR The user executing the script", KindForbidden},
	{"NOAUTH", KindLogin},
	{"WRONGPASS", KindLogin},
	{"ERR AUTH", KindLogin},
	{corruptPrefix, KindScript},
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
	switch {
	case errors.Is(err, errOutsideCalendar):
		return KindClock
	case errors.As(err, &reply):
		return kindOfReply(reply.Error())
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

// isCorrupt tells a counter that cannot be read, which concerns one client, from
// a store that does not work.
func isCorrupt(err error) bool { return redis.HasErrorPrefix(err, corruptPrefix) }
