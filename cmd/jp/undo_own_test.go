package main

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// Files that tools made in one way and that get another name, or that git tracks later, are the
// tools'. Undo takes them away, and never claims that they were there before. The user's file stays as
// it was.
func TestUndoKnowsTheToolsOwnFiles(t *testing.T) {
	t.Parallel()
	for name, calls := range map[string][]string{
		"made, moved and made again":           {"echo a >n; mv n m; echo b >n"},
		"moved and made again by another call": {"echo a >n", "mv n m; echo b >n"},
		"each by a call":                       {"echo a >n", "mv n m", "echo b >n"},
		"a tracked file, moved and made again": {"mv README.md m; echo b >README.md"},
		"moved, made again and moved":          {"mv README.md m; echo b >README.md", "mv README.md n; mv m README.md"},
		"another name for it":                  {"echo a >n", "ln n m; rm n; echo b >n"},
		"git tracks it":                        {"echo a >n", "git add -A"},
		"an ignored file that git tracks":      {"echo a >n.log", "git add -f n.log"},
		"an ignored file that git shows":       {"echo a >n.log", "echo >.gitignore"},
		"with the user's":                      {"git add -A"},
		"with the user's, ignored":             {"git add -f own.log", "echo b >n"},
		"with the user's, changed since":       {"git add -A", "echo b >own"},
		"with the user's, moved":               {"git add -A; git mv own m", "echo b >own"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := newPlace(t)
			p.write(".gitignore", "*.log\n")
			p.git("add", ".gitignore")
			p.git("commit", "-qm", "rules")
			p.write("own", "mine\n")
			p.write("own.log", "mine\n")
			before := (&grove{p: p}).sight()
			var replies strings.Builder
			for _, call := range calls {
				fmt.Fprintf(&replies, "[[reply]]\n[[reply.tool_call]]\nname = \"shell_run\"\narguments = { argv = [\"sh\", \"-c\", %q] }\n", call)
			}
			p.write("../work.toml", replies.String()+"[[reply]]\nmessage = \"Over.\"\n")
			asked := p.jp("query", "-y", "-m", "script/../work.toml", "Work")
			require.Zero(t, asked.exit, asked.stderr)
			undo := p.jp("undo", "-y")
			require.NotContains(t, undo.stdout, "there before")
			require.Equal(t, before, (&grove{p: p}).sight(), undo.stdout)
		})
	}
}
