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

//go:embed correct.lua
var correctText string

// script is a Lua script and the name under which Redis keeps it.
type script struct {
	text, sha string
}

func newScript(text string) script {
	sum := sha1.Sum([]byte(text))
	return script{text: text, sha: hex.EncodeToString(sum[:])}
}

// processor sends a command: a connection, or a client of a cluster.
type processor interface {
	Process(ctx context.Context, command redis.Cmder) error
}

// onceCommand is a command that go-redis sends once: a script whose answer was
// lost may have charged. ClusterClient would else repeat it after a lost
// connection, whatever MaxRetries says.
type onceCommand struct{ *redis.IntSliceCmd }

// NoRetry forbids repeating the command.
func (onceCommand) NoRetry() bool { return true }

// Clone returns a copy that is sent once as well.
func (c onceCommand) Clone() redis.Cmder {
	copied, ok := c.IntSliceCmd.Clone().(*redis.IntSliceCmd)
	if !ok {
		return c
	}
	return onceCommand{IntSliceCmd: copied}
}

// scriptWords are the words of a call before its keys: command, script and number
// of keys.
const scriptWords = 3

// run runs the script by its name, and with its text where Redis does not know
// the name: then nothing was executed. Both share the context's deadline. The
// words are those of a whole call; the first three are filled in here.
func (s script) run(ctx context.Context, connection processor, words []any, keys int) ([]int64, error) {
	words[0], words[1], words[2] = "EVALSHA", s.sha, keys
	reply, err := send(ctx, connection, words)
	if redis.HasErrorPrefix(err, "NOSCRIPT") {
		words[0], words[1] = "EVAL", s.text
		reply, err = send(ctx, connection, words)
	}
	return reply, err
}

// runAll does so for each run, of which there is one in each slot, in one round
// trip, and a second one for those that need the text.
func (s script) runAll(ctx context.Context, connection connection, runs []*run) {
	if len(runs) == 1 && !runs[0].asking() {
		runs[0].reply, runs[0].err = s.run(ctx, connection, runs[0].words, runs[0].keys)
		return
	}
	sendAll(ctx, connection, runs, "EVALSHA", s.sha)
	var unknown []*run
	for _, r := range runs {
		if redis.HasErrorPrefix(r.err, "NOSCRIPT") {
			unknown = append(unknown, r)
		}
	}
	if len(unknown) > 0 {
		sendAll(ctx, connection, unknown, "EVAL", s.text)
	}
}

func sendAll(ctx context.Context, connection connection, runs []*run, command, named string) {
	var all []redis.Cmder
	scripts := make([]onceCommand, len(runs))
	for i, r := range runs {
		r.words[0], r.words[1], r.words[2] = command, named, r.keys
		if r.asking() {
			// It holds for the next command alone.
			all = append(all, redis.NewStatusCmd(ctx, "ASKING"))
		}
		scripts[i] = onceCommand{IntSliceCmd: redis.NewIntSliceCmd(ctx, r.words...)}
		all = append(all, scripts[i])
	}
	// Each command has its own error as well.
	_ = connection.ProcessAll(ctx, all)
	for i, r := range runs {
		r.reply, r.err = scripts[i].Result()
	}
}

func send(ctx context.Context, connection processor, words []any) ([]int64, error) {
	command := onceCommand{IntSliceCmd: redis.NewIntSliceCmd(ctx, words...)}
	if err := connection.Process(ctx, command); err != nil {
		return nil, err
	}
	return command.Val(), nil
}

const (
	// corruptPart is the script's first integer for a counter that it cannot read.
	corruptPart = -1
	// outsidePart is that for a time outside of a calendar's windows.
	outsidePart = -2
)

// standingsOf reads the decide script's reply for one request's plans, and returns
// what is left of it for the requests after that.
func standingsOf(reply []int64, plans []plan) (stands []standing, rest []int64, err error) {
	stands = make([]standing, len(plans))
	for i, made := range plans {
		parts := made.parts()
		if len(reply) < parts {
			return nil, nil, fmt.Errorf("read the decide script's reply: %d parts are left for limit %d of %d, want %d", len(reply), i+1, len(plans), parts)
		}
		stands[i] = standing{
			admits: reply[0] == 1, corrupt: reply[0] == corruptPart, outside: reply[0] == outsidePart,
			first: reply[1], second: reply[2],
		}
		counted := parts
		if made.has(leased) {
			counted--
			stands[i].advance = reply[counted]
		}
		if counted > 3 {
			stands[i].third = reply[3]
		}
		if counted > 4 {
			stands[i].fourth = reply[4]
		}
		reply = reply[parts:]
	}
	return stands, reply, nil
}
