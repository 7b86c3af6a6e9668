package main

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"jp/agent/repo"
	"jp/conversation"
)

// A turn may go on and end after the read of its newest event and before the search for its process:
// it is not interrupted then.
func TestAListedTurnThatEndsMeanwhile(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	p.environ = append(p.environ, unconfined)
	p.write("die", "[ -e ../died ] || { touch ../died; kill -KILL $PPID; }\n")
	p.write("../die.toml", `
[[reply]]
[[reply.tool_call]]
name = "shell_run"
arguments = { argv = ["sh", "die"] }
[[reply]]
message = "Over."
`)
	require.NotZero(t, p.jp("query", "-y", "-m", "script/../die.toml", "Go").exit)
	id := conversation.ID(p.events()[0]["conversation"].(string))
	r, err := repo.Open(t.Context(), &repo.Host{Dir: p.dir, Environ: p.environ, Now: time.Now})
	require.NoError(t, err)
	defer r.Close()
	before, err := r.Store.Info(t.Context(), id)
	require.NoError(t, err)
	require.Equal(t, "interrupted", r.States().List(t.Context(), before).Status.State)

	require.Zero(t, p.jp("continue", "-y").exit)
	after := r.States().List(t.Context(), before)
	require.Equal(t, "idle", after.Status.State)
	require.NotEqual(t, before.Head, after.Head)
}
