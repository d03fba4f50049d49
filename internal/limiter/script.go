// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package limiter

import (
	"context"
	"crypto/sha1"
	_ "embed"
	"encoding/hex"
	"fmt"

	"github.com/redis/go-redis/v9"
)

//go:embed decide.lua
var decideText string

// script is a Lua script and the name under which Redis keeps it.
type script struct {
	text, sha string
}

func newScript(text string) script {
	sum := sha1.Sum([]byte(text))
	return script{text: text, sha: hex.EncodeToString(sum[:])}
}

// onceCommand is a command that go-redis sends once: a script whose answer was
// lost may have charged. ClusterClient would else repeat it after a lost
// connection, whatever MaxRetries says.
type onceCommand struct{ *redis.Cmd }

// NoRetry forbids repeating the command.
func (onceCommand) NoRetry() bool { return true }

// Clone returns a copy that is sent once as well.
func (c onceCommand) Clone() redis.Cmder {
	copied, ok := c.Cmd.Clone().(*redis.Cmd)
	if !ok {
		return c
	}
	return onceCommand{Cmd: copied}
}

// run runs the script by its name, and with its text where Redis does not know
// the name: then nothing was executed. Both share the context's deadline.
func (s script) run(ctx context.Context, client redis.UniversalClient, keys []string, arguments []any) ([]any, error) {
	reply, err := s.send(ctx, client, "EVALSHA", s.sha, keys, arguments)
	if redis.HasErrorPrefix(err, "NOSCRIPT") {
		reply, err = s.send(ctx, client, "EVAL", s.text, keys, arguments)
	}
	return reply, err
}

func (s script) send(ctx context.Context, client redis.UniversalClient, name, body string, keys []string, arguments []any) ([]any, error) {
	words := make([]any, 0, 3+len(keys)+len(arguments))
	words = append(words, name, body, len(keys))
	for _, key := range keys {
		words = append(words, key)
	}
	words = append(words, arguments...)
	command := onceCommand{Cmd: redis.NewCmd(ctx, words...)}
	if err := client.Process(ctx, command); err != nil {
		return nil, err
	}
	return command.Slice()
}

// standingsOf reads the script's reply for count limits.
func standingsOf(reply []any, count int) ([]standing, error) {
	if len(reply) != 3*count {
		return nil, fmt.Errorf("read the decide script's reply: it has %d parts for %d limits, want three each", len(reply), count)
	}
	stands := make([]standing, count)
	for i := range stands {
		admits, okAdmits := reply[3*i].(int64)
		first, okFirst := reply[3*i+1].(int64)
		second, okSecond := reply[3*i+2].(int64)
		if !okAdmits || !okFirst || !okSecond {
			return nil, fmt.Errorf("read the decide script's reply: limit %d of %d has parts that are no integers", i+1, count)
		}
		stands[i] = standing{admits: admits == 1, first: first, second: second}
	}
	return stands, nil
}
