package main

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"jp/internal/testing/editor"
)

// acpKillVariable is the number of kills of jp acp. An ordinary run has a few.
const acpKillVariable = "JP_ACP_KILLS"

// killedScript is a turn of three model calls, whose tools each leave a line that says that they ran.
const killedScript = `
[[reply]]
reasoning = "I look at it first, and then I do it step by step."
message = "First I run a command that leaves a line."
chunk_size = 6
chunk_delay = "2ms"
[[reply.tool_call]]
name = "shell_run"
arguments = { argv = ["sh", "-c", "echo one >>ran.txt"] }
[[reply.tool_call]]
name = "fs_create_file"
arguments = { path = "made.txt", content = "made\n" }
[[reply]]
message = "Now the second one, which is much like the first."
chunk_size = 6
chunk_delay = "2ms"
[[reply.tool_call]]
name = "shell_run"
arguments = { argv = ["sh", "-c", "echo two >>ran.txt"] }
[[reply]]
message = "Both have run, and the file is there."
chunk_size = 6
chunk_delay = "2ms"
[[reply]]
message = "Over."
times = 9
`

// jp acp is killed at a random moment of a prompt. Another jp acp loads the session, and sends all
// updates that the client had before. The turn goes on, and no tool runs twice.
func TestACPKill(t *testing.T) {
	t.Parallel()
	rounds := 4
	if text := os.Getenv(acpKillVariable); text != "" {
		var err error
		rounds, err = strconv.Atoi(text)
		require.NoError(t, err)
	}
	whole := killedRound(t, 0, time.Minute)
	t.Logf("a whole turn takes %s and tells %d updates", whole.took.Round(time.Millisecond), whole.told)
	t.Logf("%5s %9s %8s %8s %7s %s", "round", "killed at", "told", "loaded", "broken", "state")
	states := map[string]int{}
	for i := 1; i <= rounds; i++ {
		r := killedRound(t, i, time.Duration(rand.Int64N(int64(whole.took))))
		states[r.state]++
		t.Logf("%5d %9s %8d %8d %7d %s", i, r.took.Round(time.Millisecond), r.told, r.loaded, r.broken, r.state)
	}
	t.Logf("%d kills: %v, 0 updates lost, 0 tools ran twice", rounds, states)
}

// A killed is one round.
type killed struct {
	took         time.Duration // until the kill
	told, loaded int           // updates before it, and of the load behind it
	broken       int           // of those, texts that are marked as broken off
	state        string        // of the session when it was loaded
}

func killedRound(t *testing.T, round int, at time.Duration) (k killed) {
	t.Helper()
	p := acpPlace(t, killedScript)
	e := p.connects(`{}`)
	e.Chooses("Yes, this once", nil)
	session := e.Opens(p.dir)
	begun := time.Now()
	id := e.Prompts(session, "Do it")
	over := make(chan struct{})
	late := time.AfterFunc(at, func() { // the kill is at a moment, and waits for nothing
		e.End()
		close(over)
	})
	if round == 0 {
		require.Equal(t, "end_turn", e.Stops(id))
		late.Stop()
		e.Mu.Lock()
		defer e.Mu.Unlock()
		return killed{took: time.Since(begun), told: len(e.Updates)}
	}
	<-over
	k.took = time.Since(begun)
	seen := e.Updates

	next := p.connects(`{}`)
	load := next.Begin("session/load", fmt.Sprintf(`{"sessionId":%q,"cwd":%q,"mcpServers":[]}`, session, p.dir))
	answer := next.Response(load)
	require.Nil(t, answer.Error, "round %d: %+v", round, answer.Error)
	next.Mu.Lock()
	loaded := append([]editor.Update{}, next.Updates...)
	next.Mu.Unlock()
	if len(loaded) == 0 {
		require.Empty(t, seen, "round %d: no conversation, but updates", round)
		next.Leaves()
		k.state = "not begun"
		return k
	}
	k.told, k.loaded, k.state = len(seen), len(loaded), "complete"
	requireTold(t, round, seen, loaded)
	for _, u := range loaded {
		k.broken += strings.Count(string(u.Raw), `"brokenOff":true`)
		if u.ID == "interrupted" {
			k.state = "interrupted"
		}
	}

	next.Chooses("Yes, this once|finish turn|report it to the model", nil)
	require.Equal(t, "end_turn", next.Stops(next.Prompts(session, "And now?")), "round %d", round)
	next.Leaves()
	ran, err := os.ReadFile(filepath.Join(p.dir, "ran.txt"))
	if !os.IsNotExist(err) {
		require.NoError(t, err)
	}
	for _, word := range []string{"one", "two"} {
		require.LessOrEqual(t, strings.Count(string(ran), word), 1, "round %d: %s", round, ran)
	}
	return k
}

// requireTold checks that a load sends all that the client had before: of a text at least as much, of
// a call each state.
func requireTold(t *testing.T, round int, seen, loaded []editor.Update) {
	t.Helper()
	texts := func(updates []editor.Update) map[string]string {
		all := map[string]string{}
		for _, u := range updates {
			if strings.HasSuffix(u.Kind, "_chunk") {
				all[u.Kind+" "+u.ID] += u.Text
			}
		}
		return all
	}
	after := texts(loaded)
	for key, text := range texts(seen) {
		require.True(t, strings.HasPrefix(after[key], text), "round %d: %s was %q, and is %q", round, key, text, after[key])
	}
	said := map[string]bool{}
	for _, u := range loaded {
		said[u.Kind+u.Call+u.Status+u.Title] = true
	}
	for _, u := range seen {
		if !strings.HasSuffix(u.Kind, "_chunk") {
			require.True(t, said[u.Kind+u.Call+u.Status+u.Title], "round %d: %s is not told again", round, u.Raw)
		}
	}
}
