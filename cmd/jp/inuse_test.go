package main

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"jp/conversation"
)

// busyScript runs a tool until the file go exists, and answers once more.
const busyScript = waitScript + "[[reply]]\nmessage = \"One more.\"\n"

// inUse is a place whose conversation runs a tool in the background.
func inUse(t *testing.T) (*workspace, conversation.ID) {
	t.Helper()
	return inBackground(t, busyScript, "-y")
}

// asking is a place whose conversation waits in the background for permission to
// make two files.
func asking(t *testing.T) (*workspace, conversation.ID) {
	t.Helper()
	p, id := inBackground(t, makeScript+"[[reply]]\nmessage = \"One more.\"\n")
	p.waits()
	return p, id
}

// hints are those of an error in JSON.
func (r result) hints(t *testing.T) (commands []string) {
	t.Helper()
	var said struct {
		Error struct{ Hints []advice }
	}
	require.NoError(t, json.Unmarshal([]byte(r.stderr), &said), r.stderr)
	for _, h := range said.Error.Hints {
		commands = append(commands, strings.ReplaceAll(h.Command, `"…"`, "Text"))
	}
	return commands
}
