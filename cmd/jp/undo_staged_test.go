package main

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// A program stages files. The line after the turn and undo name those that stay staged, with the command that unstages them.
func TestUndoNamesWhatIsStaged(t *testing.T) {
	t.Parallel()
	for name, row := range map[string]struct {
		program string
		named   string // "": nothing
	}{
		"the user's files":        {"git add -A", "README.md, own.txt"},
		"one of them":             {"git add own.txt", "own.txt"},
		"with the tool's own":     {"echo x >new.txt; git add -A", "README.md, own.txt"},
		"the tool's own":          {"echo x >new.txt; git add new.txt", ""},
		"what the tool committed": {"git add own.txt; git commit -qm x", ""},
		"what it unstaged again":  {"git add own.txt; git reset -q", ""},
	} {
		for _, commit := range []bool{false, true} {
			t.Run(fmt.Sprint(name, commit), func(t *testing.T) {
				t.Parallel()
				p := newPlace(t)
				p.environ = append(p.environ, unconfined)
				p.write("own.txt", "mine\n")
				p.write("README.md", "mine\n")
				call := "[[reply]]\n[[reply.tool_call]]\nname = \"shell_run\"\narguments = { argv = [\"sh\", \"-c\", %q] }\n"
				script, named := fmt.Sprintf(call, row.program), row.named
				if commit { // a later call commits the staged changes
					script += fmt.Sprintf(call, "git commit -qm later || :")
					named = ""
				}
				p.write("../model.toml", script+"[[reply]]\nmessage = \"Done.\"\n")
				query := p.jp("query", "-y", "-m", "script/../model.toml", "Go")
				require.Zero(t, query.exit, query.stderr)
				undo := p.jp("undo", "-y")
				if named == "" {
					require.NotContains(t, query.stderr+undo.stdout, "newly staged")
					return
				}
				require.Contains(t, query.stderr, "newly staged: "+named+"; git reset")
				_, command, _ := strings.Cut(undo.stdout, "newly staged: "+named+"; ")
				command, _, told := strings.Cut(command, " unstages")
				require.True(t, told, undo.stdout)
				require.Zero(t, p.shell(command).exit)
				require.Empty(t, p.git("diff", "--cached", "--name-only"))
				require.Equal(t, "mine\n", p.read("own.txt"))
			})
		}
	}
}
