package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// A program deletes, changes and makes files, and jp is killed while it runs. Each way to settle the
// turn names the changed files. Undo brings back deleted files, and a restore that names a file brings
// back a changed one.
func TestUndoOfALostTool(t *testing.T) {
	t.Parallel()
	reported, again, discarded := []string{"continue", "-y"}, []string{"continue", "-y", "--pending=run"}, []string{"discard"}
	for name, row := range map[string]struct {
		path, program string
		settle        []string
		undone        bool // by undo, without its name
	}{
		"an untracked file is deleted":           {"own.txt", "rm own.txt", reported, true},
		"an ignored file is deleted":             {"own.log", "rm own.log", discarded, true},
		"a private file is deleted":              {"own.env", "rm own.env", again, true},
		"a tracked file is deleted":              {"README.md", "rm README.md", reported, true},
		"an empty folder is deleted":             {"empty", "rmdir empty", reported, true},
		"a file of a folder that git would make": {"d/own.txt", "rm -r d", discarded, true},
		"an untracked file is changed":           {"own.txt", "echo changed >own.txt", again, false},
		"an ignored file is changed":             {"own.log", "echo changed >own.log", reported, false},
		"a tracked file is changed":              {"README.md", "echo changed >README.md", discarded, false},
		"a mode is changed":                      {"own.txt", "chmod 600 own.txt", reported, false},
		"a file is made":                         {"new.txt", "echo new >new.txt", reported, false},
		"an ignored file is made":                {"new.log", "echo new >new.log", reported, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := newPlace(t)
			p.environ = append(p.environ, unconfined)
			p.write(".gitignore", "*.log\n*.env\n")
			p.git("add", ".gitignore")
			p.git("commit", "-qm", "rules")
			for _, file := range []string{"own.txt", "own.log", "own.env", "d/own.txt"} {
				p.write(file, "mine\n")
			}
			require.NoError(t, os.Chmod(filepath.Join(p.dir, "own.env"), 0o600))
			require.NoError(t, os.Mkdir(filepath.Join(p.dir, "empty"), 0o777))
			before := (&grove{p: p}).sight()
			p.write("../lost.toml", fmt.Sprintf("[[reply]]\n[[reply.tool_call]]\nname = \"shell_run\"\narguments = { argv = [\"sh\", \"-c\", %q] }\n[[reply]]\nmessage = \"Over.\"\ntimes = 9\n",
				row.program+"; test -e ../killed || { touch ../killed; kill -9 $PPID; }"))
			require.NotZero(t, p.jp("query", "-y", "-m", "script/../lost.toml", "Go").exit)
			p.toolsEnded()
			const words = "1 file changed, by whom is unknown: "
			require.Contains(t, p.jp("status").stdout, words+row.path)
			require.Contains(t, p.jp("diff").stderr, words+row.path)
			require.NotContains(t, p.jp("diff", "--", "elsewhere").stderr, words)
			settled := p.jp(row.settle...)
			require.Zero(t, settled.exit, settled.stderr)
			if row.settle[0] != "discard" {
				require.Contains(t, settled.stderr, "1 file changed, by whom is unknown: "+row.path)
				require.Contains(t, p.jp("status").stdout, "by whom is unknown: "+row.path)
			}
			require.Contains(t, p.jp("diff", "--turn", "1").stderr, "by whom is unknown: "+row.path)
			undo := p.jp("undo", "@0", "-y")
			require.Contains(t, undo.stdout, row.path)
			if !row.undone {
				require.NotEqual(t, before, (&grove{p: p}).sight())
				if row.settle[0] != "discard" {
					require.Contains(t, settled.stderr, "if they are not your own work, jp restore -y ")
				}
				_, command, _ := strings.Cut(undo.stderr, "    jp restore ")
				command, _, told := strings.Cut(command, "   puts back 1 file")
				require.True(t, told, undo.stderr)
				restored := p.shell("jp restore " + command)
				require.Zero(t, restored.exit, restored.stdout, restored.stderr)
			}
			require.Equal(t, before, (&grove{p: p}).sight(), undo.stdout)
		})
	}
}
