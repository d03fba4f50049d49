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

// outsidePart is the script's first integer for a time outside of a calendar's
// windows.
const outsidePart = -2

// standingsOf reads the script's reply for the plans that it was asked about.
func standingsOf(reply []any, plans []plan) ([]standing, error) {
	numbers, err := integersOf(reply)
	if err != nil {
		return nil, err
	}
	stands := make([]standing, len(plans))
	for i, made := range plans {
		parts := made.parts()
		if len(numbers) < parts {
			return nil, fmt.Errorf("read the decide script's reply: it has %d parts for %d limits, too few", len(reply), len(plans))
		}
		stands[i] = standing{admits: numbers[0] == 1, outside: numbers[0] == outsidePart, first: numbers[1], second: numbers[2]}
		if parts > 3 {
			stands[i].third = numbers[3]
		}
		if parts > 4 {
			stands[i].fourth = numbers[4]
		}
		numbers = numbers[parts:]
	}
	if len(numbers) > 0 {
		return nil, fmt.Errorf("read the decide script's reply: it has %d parts for %d limits, too many", len(reply), len(plans))
	}
	return stands, nil
}

func integersOf(reply []any) ([]int64, error) {
	numbers := make([]int64, len(reply))
	for i := range reply {
		number, ok := reply[i].(int64)
		if !ok {
			return nil, fmt.Errorf("read the decide script's reply: part %d of %d is no integer", i+1, len(reply))
		}
		numbers[i] = number
	}
	return numbers, nil
}
