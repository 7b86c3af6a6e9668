package main

import (
	"bufio"
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"jp/internal/testing/gitenv"
)

const script = `
[[reply]]
message = "I make a file."
[[reply.tool_call]]
name = "fs_create_file"
arguments = { path = "made.txt", content = "made\n" }
[[reply]]
message = "It is there."
[[reply]]
message = "Again."
`

// A whole conversation: a question, a permission, another question, the list, a fork, an undo.
func TestLines(t *testing.T) {
	dir := gitenv.Repo(t)
	home := t.TempDir()
	t.Chdir(dir)
	for _, name := range []string{"HOME", "XDG_STATE_HOME", "XDG_DATA_HOME", "XDG_CONFIG_HOME", "XDG_CACHE_HOME"} {
		t.Setenv(name, filepath.Join(home, name))
	}
	t.Setenv("JP_SESSION", "lines")
	require.NoError(t, os.MkdirAll(filepath.Join(home, "HOME"), 0o700))
	require.NoError(t, os.WriteFile(filepath.Join(home, "talk.toml"), []byte(script), 0o600))
	var out bytes.Buffer
	f := &front{out: &out, model: "script/" + filepath.Join(home, "talk.toml")}
	say := func(lines ...string) string {
		out.Reset()
		f.in = bufio.NewScanner(strings.NewReader(strings.Join(lines, "\n")))
		f.in.Scan()
		command, rest, _ := strings.Cut(f.in.Text(), " ")
		require.NoError(t, f.do(t.Context(), command, rest), "%s", out.String())
		return out.String()
	}
	made := filepath.Join(dir, "made.txt")

	answer := say("new Make a file", "yes")
	require.Contains(t, answer, `question "Run fs_create_file made.txt?"`)
	require.Contains(t, answer, `text "I make a file."`)
	require.Contains(t, answer, `text "It is there."`)
	require.Contains(t, answer, `ended "complete"`)
	require.FileExists(t, made)
	require.Contains(t, say("undo"), `file "made.txt true "`)
	require.NoFileExists(t, made)
	require.Contains(t, say("ask Again"), `text "Again."`)
	require.Equal(t, 1, strings.Count(say("list"), "conversation "))
	require.Contains(t, say("fork"), "forked ")
	require.Equal(t, 2, strings.Count(say("list"), "conversation "))
	require.ErrorContains(t, f.do(t.Context(), "sing", ""), `there is no command "sing"`)
}
