package main

import (
	"fmt"
	"net"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"
)

// A program deletes a pipe or a socket, alone or beside a file, or puts a file in its place. The line after the turn, undo and
// diff name it, and undo brings back the rest.
func TestUndoNamesPipesAndSockets(t *testing.T) {
	t.Parallel()
	for name, row := range map[string]struct {
		program, kind string
		ignored       bool
		left          string // the foot line's text about it
		large         bool
	}{
		"a pipe":               {"rm d/s", "a pipe", false, "1 file", false},
		"a socket":             {"rm d/s", "a socket", false, "1 file", false},
		"an ignored socket":    {"rm d/s", "a socket", true, "1 file", false},
		"with its folder":      {"rm -r d", "a pipe", false, "2 files", false},
		"a file in its place":  {"rm d/s; echo x >d/s", "a pipe", false, "1 file", false},
		"one of the same name": {"rm d/s; mkfifo d/s", "a pipe", false, "", false},
		"a pipe is made":       {"mkfifo d/new", "", false, "1 file", false},
		"a large file is made": {"truncate -s 9M d/new", "", false, "1 file", true},
		"none of it":           {"true", "a socket", false, "", false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := newPlace(t)
			p.environ = append(p.environ, unconfined)
			if row.ignored {
				p.write(".gitignore", "s\n")
			}
			p.write("d/own.txt", "mine\n")
			special := filepath.Join(p.dir, "d/s")
			if row.kind == "a socket" {
				listener, err := net.ListenUnix("unix", &net.UnixAddr{Name: special})
				require.NoError(t, err)
				defer listener.Close()
			} else {
				require.NoError(t, unix.Mkfifo(special, 0o644))
			}
			before := (&grove{p: p}).sight()
			p.write("../model.toml", fmt.Sprintf("[[reply]]\n[[reply.tool_call]]\nname = \"shell_run\"\narguments = { argv = [\"sh\", \"-c\", %q] }\n[[reply]]\nmessage = \"Over.\"\n", row.program))
			query := p.jp("query", "-y", "-m", "script/../model.toml", "Go")
			require.Zero(t, query.exit, query.stderr)
			if row.left == "" {
				require.Contains(t, query.stderr, "no files changed")
				return
			}
			require.Contains(t, query.stderr, row.left)
			undo := p.jp("undo", "-y")
			if row.kind == "" {
				require.Contains(t, undo.stdout, "d/new")
				if row.large {
					require.Contains(t, undo.stdout, "d/new  what it is now is not recorded: 9.4 MB, too large")
					return
				}
				require.Equal(t, before, (&grove{p: p}).sight())
				require.Contains(t, p.jp("undo", "-y").stdout, "d/new  jp has no copy of it: ")
				return
			}
			require.Contains(t, query.stderr, "jp has no copy of d/s ("+row.kind+")")
			require.Contains(t, undo.stdout, "d/s")
			require.Contains(t, p.jp("diff", "--turn", "1").stderr, "d/s")
			if row.program != "rm d/s; echo x >d/s" {
				delete(before, "d/s")
				require.Equal(t, before, (&grove{p: p}).sight(), undo.stdout)
			}
			_, err := os.Lstat(filepath.Join(p.dir, "d/own.txt"))
			require.NoError(t, err)
		})
	}
}
