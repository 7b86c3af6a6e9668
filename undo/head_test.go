package undo_test

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"testing"

	"github.com/stretchr/testify/require"

	"jp/conversation"
	"jp/internal/testing/front"
	"jp/undo"
)

// shells is a model of one shell command a turn.
func shells(commands ...string) (script string) {
	for _, c := range commands {
		script += fmt.Sprintf("[[reply]]\n[[reply.tool_call]]\nname = \"shell_run\"\narguments = { argv = [\"sh\", \"-c\", %q] }\n[[reply]]\nmessage = \"Over.\"\n", c)
	}
	return script
}

// ask runs a turn whose tools are approved, in a new conversation for "".
func ask(t *testing.T, s *front.Scratch, id conversation.ID, script string) conversation.ID {
	t.Helper()
	f, request := &front.Front{}, front.Next(id, "Go")
	if id == "" {
		request = s.Request(script, "Go")
	}
	request.Turn.Yes = true
	require.NoError(t, s.Ask(f, request))
	return f.Last().ID
}

var hash = regexp.MustCompile(`\b[0-9a-f]{10}\b`)

// undoes is an undo of the last turn, or of an event, in words: of each file D, A or M with its note, or why it is left alone.
func undoes(t *testing.T, s *front.Scratch, id conversation.ID, event string, dry bool) (map[string]string, error) {
	t.Helper()
	r := s.Open()
	defer r.Close()
	s.Await(r, id)
	u, of, err := undo.New(t.Context(), r, undo.Options{Action: "undo", Word: string(id) + "@" + event, DryRun: dry})
	if err != nil {
		return nil, err
	}
	defer u.Close()
	if event == "" {
		of, _, err = u.View.TurnEvents(u.View.LastTurn())
		require.NoError(t, err)
	}
	u.Before(of)
	_, result, err := u.Propose(t.Context())
	if err != nil {
		return nil, err
	}
	if !dry {
		require.NoError(t, u.Do(t.Context(), result, u.Record))
	}
	words := map[string]string{}
	for _, put := range result.Puts {
		words[put.Path] = undo.StatusOf(put)
		if note := result.Notes[put.Path]; note != "" {
			words[put.Path] += ", " + note
		}
	}
	for _, left := range result.Left() {
		words[left.Path] = hash.ReplaceAllString(left.Reason, "HASH")
	}
	return words, nil
}

// TestUndoWithHead varies git's changes to the files with HEAD while a tool ran: HEAD has them, and the undo
// leaves them so.
func TestUndoWithHead(t *testing.T) {
	t.Parallel()
	prepare := func(s *front.Scratch) {
		s.Git("switch", "-q", "-c", "other")
		for _, name := range []string{"only", "gone", "was", "left"} {
			s.Write(name+".txt", name+"\n")
		}
		s.Commit()
		s.Git("switch", "-q", "main")
		s.Write("main.txt", "m\n")
		s.Commit()
	}
	const with = "as it came with HEAD from main to other"
	for _, row := range []struct {
		name  string
		do    func(s *front.Scratch)
		turns []string
		want  map[string]string
		clean bool // git reports no change afterwards
	}{
		{
			name: "a switch, and then the tool writes, deletes and moves", do: prepare,
			turns: []string{"git switch -q other; echo tool >>only.txt; rm gone.txt; mv was.txt moved.txt"},
			want: map[string]string{
				"only.txt": "M, " + with, "gone.txt": "A, " + with, "was.txt": "A, " + with, "moved.txt": "D",
				"left.txt": "it went with HEAD from main to other while @5 ran", "main.txt": "it went with HEAD from main to other while @5 ran",
			}, clean: true,
		},
		{
			name: "a switch", do: prepare, turns: []string{"echo n >new.txt; git switch -q other"},
			want: map[string]string{
				"new.txt": "D", "only.txt": "it went with HEAD from main to other while @5 ran", "gone.txt": "it went with HEAD from main to other while @5 ran",
				"was.txt": "it went with HEAD from main to other while @5 ran", "left.txt": "it went with HEAD from main to other while @5 ran",
				"main.txt": "it went with HEAD from main to other while @5 ran",
			}, clean: true,
		},
		{
			name: "a merge beside a commit of the tool's own", do: func(s *front.Scratch) {
				s.Git("switch", "-q", "-c", "side")
				s.Write("side.txt", "s\n")
				s.Commit()
				s.Git("switch", "-q", "main")
			}, turns: []string{"echo own >own.txt; git add own.txt; git commit -qm own; git merge -q --no-edit side"},
			want: map[string]string{"own.txt": "D", "side.txt": "it went with HEAD from HASH to HASH while @5 ran"},
		},
		{
			name: "a commit of the tool's own", do: func(*front.Scratch) {}, turns: []string{"echo mine >a.txt; git add a.txt; git commit -qm mine"},
			want: map[string]string{"a.txt": "D"},
		},
		{
			name: "what an earlier turn made, committed, moved and removed", do: func(*front.Scratch) {},
			turns: []string{
				"echo a >a.txt; mkdir d; echo b >d/b.txt",
				"git add . && git commit -qm w && git rm -q a.txt && git mv d/b.txt d/c.txt && echo more >>d/c.txt && mkdir e && echo q >e/q.txt && echo n >new.txt",
			},
			want: map[string]string{"a.txt": "A", "d/b.txt": "A", "d/c.txt": "D", "e/q.txt": "D", "new.txt": "D"},
		},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			s := front.New(t)
			s.Environ = append(s.Environ, "GIT_COMMITTER_DATE=2099-01-01T00:00:00Z") // of the tools' commits
			row.do(s)
			id := ask(t, s, "", shells(row.turns...))
			for range row.turns[1:] {
				ask(t, s, id, "")
			}
			would, err := undoes(t, s, id, "", true)
			require.NoError(t, err)
			done, err := undoes(t, s, id, "", false)
			require.NoError(t, err)
			require.Equal(t, row.want, done)
			require.Len(t, would, len(done))
			if row.clean {
				require.Empty(t, s.Git("status", "--porcelain"))
			}
			again, err := undoes(t, s, id, "", true)
			require.NoError(t, err)
			for path, why := range again {
				require.NotContains(t, []string{"A", "D", "M"}, why, path)
			}
			events := s.Load(id)
			back, err := undoes(t, s, id, fmt.Sprint(events[len(events)-1].Seq), false)
			require.NoError(t, err)
			for path, word := range row.want {
				if word == "D" {
					require.Equal(t, "A", back[path], "an undo is undone: %s", path)
				}
			}
		})
	}
}

// side makes a working tree beside the first one, at the same commit and without a branch.
func side(t *testing.T, s *front.Scratch) string {
	t.Helper()
	dir := filepath.Join(s.Home, "side")
	s.Git("worktree", "add", "-q", "--detach", dir)
	s.Git("switch", "-q", "--detach")
	return dir
}

// TestUndoInPlace: files are taken back in the working tree in which the tools wrote them, and only there.
func TestUndoInPlace(t *testing.T) {
	t.Parallel()
	twice := shells("echo a >a.txt", "echo b >b.txt", "echo c >c.txt")
	write := func(t *testing.T, dir, name string) {
		t.Helper()
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte(name[:1]+"\n"), 0o600))
	}
	t.Run("the last turn was elsewhere", func(t *testing.T) {
		t.Parallel()
		s := front.New(t)
		beside := side(t, s)
		s.Dir = beside
		id := ask(t, s, "", twice)
		s.Dir = s.First
		write(t, s.First, "a.txt")
		_, err := undoes(t, s, id, "0", false)
		require.ErrorContains(t, err, "worked in worktree side; these are not its files.")
		require.True(t, s.Exists("a.txt"))
		s.Dir = beside
		done, err := undoes(t, s, id, "0", false)
		require.NoError(t, err)
		require.Equal(t, map[string]string{"a.txt": "D"}, done)
		s.Dir = s.First
		require.True(t, s.Exists("a.txt"))
		s.Dir = beside
		id = ask(t, s, "", twice)
		s.Dir = s.First
		s.Git("worktree", "remove", "--force", beside)
		s.Git("worktree", "add", "-q", "--detach", beside)
		s.Dir = beside
		write(t, beside, "a.txt")
		_, err = undoes(t, s, id, "0", false)
		require.ErrorContains(t, err, "worked in an earlier worktree side; these are not its files.")
		id = ask(t, s, "", shells("echo a >m.txt"))
		moved := filepath.Join(s.Home, "moved")
		s.Git("worktree", "move", beside, moved)
		s.Dir = moved
		done, err = undoes(t, s, id, "0", false)
		require.NoError(t, err, "one that is moved stays the same")
		require.Equal(t, map[string]string{"m.txt": "D"}, done)
	})
	t.Run("a turn in each of two", func(t *testing.T) {
		t.Parallel()
		s := front.New(t)
		beside := side(t, s)
		id := ask(t, s, "", twice)
		write(t, beside, "a.txt")
		s.Dir = beside
		ask(t, s, id, "")
		s.Dir = s.First
		ask(t, s, id, "")
		done, err := undoes(t, s, id, "0", false)
		require.NoError(t, err)
		require.Equal(t, map[string]string{"a.txt": "D", "c.txt": "D"}, done, "both stints here")
		s.Dir = beside
		require.True(t, s.Exists("a.txt"))
		require.True(t, s.Exists("b.txt"))
	})
	t.Run("a fork that goes on elsewhere", func(t *testing.T) {
		t.Parallel()
		s := front.New(t)
		beside := side(t, s)
		s.Dir = beside
		source := ask(t, s, "", twice)
		events := s.Load(source)
		s.Dir = s.First
		write(t, s.First, "a.txt")
		id := s.Fork(source, events[len(events)-1].Seq)
		done, err := undoes(t, s, id, "0", false)
		require.NoError(t, err)
		require.Empty(t, done, "the source's tools wrote nothing here")
		ask(t, s, id, "")
		done, err = undoes(t, s, id, "0", false)
		require.NoError(t, err)
		require.Equal(t, map[string]string{"b.txt": "D"}, done)
		require.True(t, s.Exists("a.txt"))
	})
}

// TestUndoRefused varies the reasons to refuse an undo.
func TestUndoRefused(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		name  string
		event string
		do    func(t *testing.T, s *front.Scratch, id conversation.ID)
		wrong string
	}{
		{name: "a call is open", do: func(t *testing.T, s *front.Scratch, id conversation.ID) {
			request := front.Next(id, "Again")
			request.Turn.Policy = "defer"
			require.Error(t, s.Ask(&front.Front{}, request))
		}, wrong: "has an incomplete turn (turn 2)."},
		{name: "someone else wrote it", do: func(t *testing.T, s *front.Scratch, _ conversation.ID) {
			require.NoError(t, os.Remove(filepath.Join(s.Home, ".local/state/jp/key")))
		}, wrong: "was written by someone else"},
		{name: "snapshots are off", do: func(_ *testing.T, s *front.Scratch, _ conversation.ID) { s.Configure("[snapshot]\nmode = \"off\"\n") }, wrong: "keeps no snapshots"},
		{name: "no such event", event: "99", do: func(*testing.T, *front.Scratch, conversation.ID) {}, wrong: "99"},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			s := front.New(t)
			id := ask(t, s, "", shells("echo a >a.txt", "echo b >b.txt"))
			row.do(t, s, id)
			for _, dry := range []bool{true, false} {
				_, err := undoes(t, s, id, row.event, dry)
				require.ErrorContains(t, err, row.wrong)
			}
			require.True(t, s.Exists("a.txt"))
		})
	}
}

// TestUndoOfOthers: a file that another conversation changed later stays, and so do commits since then.
func TestUndoOfOthers(t *testing.T) {
	t.Parallel()
	s := front.New(t)
	const odd = "odd \"name\"\u2028.txt"
	id := ask(t, s, "", fmt.Sprintf("[[reply]]\n[[reply.tool_call]]\nname = \"fs_create_file\"\narguments = { path = \"deep/a.txt\", content = \"one\\n\" }\n[[reply.tool_call]]\nname = \"fs_create_file\"\narguments = { path = %q, content = \"odd\\n\" }\n[[reply]]\nmessage = \"Over.\"\n", odd))
	s.Commit()
	index, head := s.Read(".git/index"), s.Git("rev-parse", "HEAD")
	done, err := undoes(t, s, id, "0", false)
	require.NoError(t, err)
	require.Equal(t, map[string]string{"deep/a.txt": "D", odd: "D"}, done)
	require.False(t, s.Exists("deep"), "an empty folder goes with its files")
	require.Equal(t, index, s.Read(".git/index"))
	require.Equal(t, head, s.Git("rev-parse", "HEAD"))
	events := s.Load(id)
	restored := events[len(events)-1]
	require.Equal(t, head, restored.Git.Head)
	_, err = undoes(t, s, id, fmt.Sprint(restored.Seq), false)
	require.NoError(t, err)
	require.Empty(t, s.Git("status", "--porcelain", "--ignored"))

	other := ask(t, s, "", shells("echo two >>deep/a.txt"))
	done, err = undoes(t, s, id, "0", false)
	require.NoError(t, err)
	require.Equal(t, "D", done[odd])
	require.Contains(t, done["deep/a.txt"], "others changed it after @")
	require.Equal(t, "one\ntwo\n", s.Read("deep/a.txt"))
	_, err = undoes(t, s, other, "", false)
	require.NoError(t, err)
	require.Equal(t, "one\n", s.Read("deep/a.txt"))
}

// TestRestore varies the paths that come back, and their source.
func TestRestore(t *testing.T) {
	t.Parallel()
	s := front.New(t)
	id := ask(t, s, "", shells("echo 1 >a.txt; mkdir d; echo 1 >d/b.txt", "echo 2 >a.txt; rm -r d; echo c >c.txt"))
	end := len(s.Load(id)) - 1
	ask(t, s, id, "")
	restore := func(paths ...string) (map[string]bool, error) {
		r := s.Open()
		defer r.Close()
		s.Await(r, id)
		u, event, err := undo.New(t.Context(), r, undo.Options{Action: "restore", Word: fmt.Sprintf("%s@%d", id, end), Paths: paths})
		require.NoError(t, err)
		defer u.Close()
		if err := u.Known(t.Context(), event); err != nil {
			return nil, err
		}
		u.After(event, paths)
		_, result, err := u.Propose(t.Context())
		require.NoError(t, err)
		require.NoError(t, u.Do(t.Context(), result, u.Record))
		done := map[string]bool{}
		for _, f := range result.Files {
			done[f.Path] = f.Done
		}
		return done, nil
	}
	_, err := restore("nosuch")
	require.ErrorContains(t, err, "no snapshot of "+string(id)+" has nosuch.")
	done, err := restore("d")
	require.NoError(t, err)
	require.Equal(t, map[string]bool{"d/b.txt": true}, done)
	require.Equal(t, "2\n", s.Read("a.txt"))
	done, err = restore(".")
	require.NoError(t, err, "the root is always known")
	require.Equal(t, map[string]bool{"a.txt": true, "c.txt": true}, done)
	require.Equal(t, "1\n", s.Read("a.txt"))
	require.False(t, s.Exists("c.txt"))
	events := s.Load(id)
	require.Equal(t, fmt.Sprintf("restore: 2 files as after %d", end), events[len(events)-1].Subject)
}
