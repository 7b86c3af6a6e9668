package undo_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"jp/agent"
	"jp/internal/testing/front"
	"jp/internal/testing/gitenv"
	"jp/undo"
)

func TestMain(m *testing.M) { front.Main(m) }

const work = `
[[reply]]
[[reply.tool_call]]
name = "fs_create_file"
arguments = { path = "made.txt", content = "made\n" }
[[reply.tool_call]]
name = "fs_create_file"
arguments = { path = "e/new", content = "new\n" }
[[reply.tool_call]]
name = "fs_delete_file"
arguments = { path = "e/x" }
[[reply]]
message = "Over."
`

// TestUndo varies the user's changes of the files after the turn. Its rows take one lock twice, and
// so are not parallel: a git that another row starts holds every open lock until it is executed.
func TestUndo(t *testing.T) {
	const kept = "the user wrote this\n"
	for _, row := range []struct {
		name   string
		change func(t *testing.T, s *front.Scratch)
		dry    bool
		done   map[string]bool // the files of the result, and whether each is put back
		gone   []string
		there  map[string]string // content by path
	}{
		{
			name: "nothing", done: map[string]bool{"made.txt": true, "e/new": true, "e/x": true},
			gone: []string{"made.txt", "e/new"}, there: map[string]string{"e/x": "x\n"},
		},
		{
			name: "a dry run", dry: true, done: map[string]bool{"made.txt": false, "e/new": false, "e/x": false},
			gone: []string{"e/x"}, there: map[string]string{"made.txt": "made\n", "e/new": "new\n"},
		},
		{
			name:   "the user wrote over a file",
			change: func(_ *testing.T, s *front.Scratch) { s.Write("made.txt", kept) },
			done:   map[string]bool{"made.txt": false, "e/new": true, "e/x": true},
			gone:   []string{"e/new"}, there: map[string]string{"made.txt": kept, "e/x": "x\n"},
		},
		{
			name: "the user put a link in place of a folder",
			change: func(t *testing.T, s *front.Scratch) {
				require.NoError(t, os.RemoveAll(filepath.Join(s.Dir, "e")))
				require.NoError(t, os.Mkdir(filepath.Join(s.Dir, "f"), 0o700))
				require.NoError(t, os.Symlink("f", filepath.Join(s.Dir, "e")))
			},
			done: map[string]bool{"made.txt": true, "e/x": false},
			gone: []string{"made.txt", "f/x", "f/new"},
		},
	} {
		t.Run(row.name, func(t *testing.T) {
			s, f := front.New(t), &front.Front{}
			s.Write("e/x", "x\n")
			gitenv.Git(t, s.Dir, "add", ".")
			gitenv.Git(t, s.Dir, "commit", "-q", "-m", "files")
			require.NoError(t, s.Ask(f, agent.Request{
				Target: agent.Target{New: true}, Input: agent.Input{Text: []string{"Work"}},
				Turn: agent.TurnOptions{Model: s.Model(work), Yes: true},
			}))
			id := f.Ended()[0].ID
			if row.change != nil {
				row.change(t, s)
			}
			events := len(s.Load(id))

			require.Equal(t, row.done, undoTurn(t, s, undo.Options{Action: "undo", Word: string(id) + "@", DryRun: row.dry}))
			for _, path := range row.gone {
				require.False(t, s.Exists(path), path)
			}
			for path, text := range row.there {
				content, err := os.ReadFile(filepath.Join(s.Dir, path))
				require.NoError(t, err)
				require.Equal(t, text, string(content))
			}
			if row.dry {
				require.Len(t, s.Load(id), events, "a dry run records nothing")
			} else {
				require.Greater(t, len(s.Load(id)), events)
			}
		})
	}
}

// undoTurn takes back the last turn, and tells of each file whether it was put back.
func undoTurn(t *testing.T, s *front.Scratch, o undo.Options) map[string]bool {
	t.Helper()
	r := s.Open()
	defer r.Close()
	u, _, err := undo.New(t.Context(), r, o)
	require.NoError(t, err)
	defer u.Close()
	first, _, err := u.View.TurnEvents(u.View.LastTurn())
	require.NoError(t, err)
	u.Before(first)
	_, result, err := u.Propose(t.Context())
	require.NoError(t, err)
	if !o.DryRun {
		require.NoError(t, u.Do(t.Context(), result, u.Record))
	}
	done := map[string]bool{}
	for _, file := range result.Files {
		done[file.Path] = file.Done
	}
	return done
}
