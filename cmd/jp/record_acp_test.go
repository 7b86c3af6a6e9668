package main

import (
	"bytes"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"jp/internal/testing/editor"
)

// The session of an editor with an agent becomes a conversation, with the files behind the call. Its log goes.
func TestRecordACP(t *testing.T) {
	t.Parallel()
	for name, choice := range map[string]string{"allowed": "Yes, this once", "refused": "No"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := acpPlace(t, editor.MakeFileScript)
			cmd := p.command("record", "acp", "--", "jp", "acp")
			in, err := cmd.StdinPipe()
			require.NoError(t, err)
			out, err := cmd.StdoutPipe()
			require.NoError(t, err)
			var stderr bytes.Buffer
			cmd.Stderr = &stderr
			require.NoError(t, cmd.Start())
			e := editor.Start(t, editor.Server{In: in, Out: out, Log: &stderr, Wait: cmd.Wait, Kill: func() { _ = cmd.Process.Kill() }}, acpSchema).Introduce(`{}`)
			e.Chooses(choice, nil)
			session := e.Opens(p.dir)
			require.Equal(t, "end_turn", e.Stops(e.Prompts(session, "Make a file")))
			e.Leaves()
			require.Contains(t, stderr.String(), "jp recorded")
			_, id, _ := strings.Cut(stderr.String(), "jp log ")
			id = strings.Fields(id)[0]
			printed := p.jp("print", id)
			require.Zero(t, printed.exit, printed.stderr)
			require.Contains(t, printed.stdout, "I make a file.")
			require.Contains(t, printed.stdout, "It is there.")
			events := p.jp("print", "--json", id).stdout
			if name == "allowed" {
				require.Contains(t, events, `"path":"made.txt"`)
			} else {
				require.NotContains(t, events, `"path":"made.txt","before"`)
			}
			logs, err := filepath.Glob(filepath.Join(filepath.Dir(p.dir), "home", ".local", "state", "jp", "recordings", "*", "acp", "*"))
			require.NoError(t, err)
			require.Empty(t, logs)
		})
	}
}
