package fork_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"

	"jp/agent"
	"jp/agent/snapshot"
	"jp/conversation"
	"jp/fork"
	"jp/internal/testing/front"
	"jp/internal/testing/journaltest"
)

func TestMain(m *testing.M) { front.Main(m) }

// three is a model that makes a file in each of three turns.
func three() (script string) {
	for _, name := range []string{"a", "b", "c"} {
		script += fmt.Sprintf("[[reply]]\n[[reply.tool_call]]\nname = \"fs_create_file\"\narguments = { path = \"%[1]s.txt\", content = \"%[1]s\\n\" }\n[[reply]]\nmessage = \"Made %[1]s.\"\n", name)
	}
	return script
}

// source is a conversation of three turns, and the newest event of each.
func source(t *testing.T) (s *front.Scratch, id conversation.ID, ends []int) {
	t.Helper()
	s = front.New(t)
	f, request := &front.Front{}, agent.Request{}
	for i, text := range []string{"First", "Second", "Third"} {
		if request = front.Next(id, text); i == 0 {
			request = s.Request(three(), text)
		}
		request.Turn.Yes = true
		require.NoError(t, s.Ask(f, request))
		id = f.Last().ID
		ends = append(ends, len(s.Load(id))-1)
		s.Tick(3600e9)
	}
	return s, id, ends
}

// forked makes a fork in place.
func forked(t *testing.T, s *front.Scratch, word string, cut fork.ForkCut, change func(*fork.Fork)) (*fork.Fork, error) {
	t.Helper()
	r := s.Open()
	t.Cleanup(func() { r.Close() })
	v, err := cut.View(t.Context(), r, word)
	if err != nil {
		return nil, err
	}
	f, err := fork.New(v, cut)
	if err != nil {
		return nil, err
	}
	if change != nil {
		change(f)
	}
	place, err := snapshot.Here(t.Context(), r)
	require.NoError(t, err)
	return f, f.Create(t.Context(), place)
}

// asked are the requests of a conversation.
func asked(events []*conversation.Event) (all []string) {
	for _, e := range events {
		if b, is := e.Body.(*conversation.ChatRequest); is {
			all = append(all, b.Content)
		}
	}
	return all
}

// TestCut varies which part of a conversation a fork takes.
func TestCut(t *testing.T) {
	t.Parallel()
	s, id, ends := source(t)
	commit := s.Load(id)[ends[1]].Commit
	for _, row := range []struct {
		name   string
		cut    fork.ForkCut
		want   []string
		shares bool
		title  string
		wrong  string
	}{
		{name: "all", want: []string{"First", "Second", "Third"}, shares: true, title: "First"},
		{name: "until an event", cut: fork.ForkCut{Until: strconv.Itoa(ends[0])}, want: []string{"First"}, shares: true, title: "First"},
		{name: "until an event with a sign", cut: fork.ForkCut{Until: "@" + strconv.Itoa(ends[1])}, want: []string{"First", "Second"}, shares: true, title: "First"},
		{name: "until an event from the end", cut: fork.ForkCut{Until: "-1"}, want: []string{"First", "Second", "Third"}, shares: true, title: "First"},
		{name: "until a turn", cut: fork.ForkCut{Until: "turn:2"}, want: []string{"First", "Second"}, shares: true, title: "First"},
		{name: "until a commit", cut: fork.ForkCut{Until: commit[:12]}, want: []string{"First", "Second"}, shares: true, title: "First"},
		{name: "until a time", cut: fork.ForkCut{Until: "2026-11-21T10:30:00Z"}, want: []string{"First"}, shares: true, title: "First"},
		{name: "the middle of a turn", cut: fork.ForkCut{Until: strconv.Itoa(ends[0] + 4)}, want: []string{"First", "Second"}, shares: true, title: "First"},
		{name: "the first turn", cut: fork.ForkCut{First: 1}, want: []string{"First"}, shares: true, title: "First"},
		{name: "the last turn", cut: fork.ForkCut{Last: 1}, want: []string{"Third"}, title: "First"},
		{name: "the first and the last turn", cut: fork.ForkCut{First: 1, Last: 1}, want: []string{"First", "Third"}, title: "First"},
		{name: "from a turn", cut: fork.ForkCut{From: "turn:2"}, want: []string{"Second", "Third"}, title: "First"},
		{name: "from a turn until an event", cut: fork.ForkCut{From: "turn:2", Until: strconv.Itoa(ends[1])}, want: []string{"Second"}, title: "First"},
		{name: "from a time", cut: fork.ForkCut{From: "2026-11-21T10:30:00Z"}, want: []string{"Second", "Third"}, title: "First"},
		{name: "from an event", cut: fork.ForkCut{From: strconv.Itoa(ends[1] + 1)}, want: []string{"Third"}, title: "First"},
		{name: "from a time to come", cut: fork.ForkCut{From: "2027-11-21T10:30:00Z"}, wrong: "no event"},
		{name: "no such event", cut: fork.ForkCut{Until: "999"}, wrong: "no event"},
		{name: "nothing that counts", cut: fork.ForkCut{From: strconv.Itoa(ends[1] - 1), Until: strconv.Itoa(ends[1])}, wrong: "a turn is kept from a request on."},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			f, err := forked(t, s, string(id), row.cut, nil)
			if row.wrong != "" {
				require.ErrorContains(t, err, row.wrong)
				return
			}
			require.NoError(t, err)
			require.NotEqual(t, id, f.ID)
			require.Equal(t, row.shares, f.Shares)
			require.True(t, f.Local())
			require.False(t, f.Absent(t.Context()))
			events := s.Load(f.ID)
			require.Equal(t, row.want, asked(events))
			require.Equal(t, row.title, conversation.Summarize(events).Title, "a request that is cut away still gives the title")
			for i, e := range events {
				require.Equal(t, i, e.Seq)
			}
			require.Equal(t, row.shares, events[0].Commit == s.Load(id)[0].Commit)
			last := events[len(events)-1].Tree
			if row.shares {
				require.Equal(t, last != s.Load(id)[len(s.Load(id))-1].Tree, f.Behind())
			}
		})
	}
	require.Equal(t, []string{"First", "Second", "Third"}, asked(s.Load(id)), "the source stays")
}

// TestForkOfFork: a fork of the events that a fork shares with its source is the user's own, and so are its
// later events.
func TestForkOfFork(t *testing.T) {
	t.Parallel()
	s, id, ends := source(t)
	first, err := forked(t, s, string(id), fork.ForkCut{Until: strconv.Itoa(ends[1])}, nil)
	require.NoError(t, err)
	second, err := forked(t, s, string(first.ID), fork.ForkCut{Until: strconv.Itoa(ends[0])}, func(f *fork.Fork) { f.Title = "Mine" })
	require.NoError(t, err)
	require.True(t, second.Local())
	require.Equal(t, "Mine", conversation.Summarize(s.Load(second.ID)).Title)
	f, request := &front.Front{}, front.Next(second.ID, "Go on")
	request.Turn.Model = s.Model("[[reply]]\nmessage = \"Over.\"\ntimes = 9\n")
	require.NoError(t, s.Ask(f, request))
	require.Equal(t, []string{"First", "Go on"}, asked(s.Load(second.ID)))
}

// TestForeign: someone else's events are forked unsigned, and become the user's own once they adopt the fork.
func TestForeign(t *testing.T) {
	t.Parallel()
	s, id, _ := source(t)
	require.NoError(t, os.Remove(filepath.Join(s.Home, ".local/state/jp/key")))
	for _, row := range []struct {
		name  string
		cut   fork.ForkCut
		adopt bool
	}{{name: "shared"}, {name: "a copy", cut: fork.ForkCut{Last: 1}}, {name: "adopted", adopt: true}, {name: "an adopted copy", cut: fork.ForkCut{Last: 1}, adopt: true}} {
		f, err := forked(t, s, string(id), row.cut, func(f *fork.Fork) { f.Adopts = row.adopt })
		require.NoError(t, err, row.name)
		require.False(t, f.Local(), row.name)
		err = s.Ask(&front.Front{}, front.Next(f.ID, "Go on"))
		if row.adopt {
			require.NotContains(t, fmt.Sprint(err), "was written by someone else", row.name)
		} else {
			require.ErrorContains(t, err, "was written by someone else", row.name)
		}
	}
}

// TestWorktree varies the place of a working tree for a fork.
func TestWorktree(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		name   string
		dir    func(s *front.Scratch) string
		until  int // the turn
		branch string
		do     func(s *front.Scratch)
		there  []string
		absent []string
		wrong  string
	}{
		{name: "beside", there: []string{"a.txt", "b.txt", "c.txt"}},
		{name: "as of the first turn", until: 1, there: []string{"a.txt"}, absent: []string{"b.txt"}},
		{name: "an empty folder", do: func(s *front.Scratch) { _ = os.Mkdir(filepath.Join(s.Home, "try"), 0o700) }, there: []string{"a.txt"}},
		{name: "a relative folder", dir: func(*front.Scratch) string { return "sub/try" }, there: []string{"a.txt"}},
		{name: "a branch", branch: "try/one", there: []string{"a.txt"}},
		{name: "a branch that is there", branch: "main", wrong: "there is a branch main already."},
		{name: "no name of a branch", branch: "a..b", wrong: `-b "a..b" is not a name that a branch can have.`},
		{name: "an option for a branch", branch: "-x", wrong: `-b "-x" is not a name that a branch can have.`},
		{name: "a place of the reflog for a branch", branch: "@{-1}", wrong: "is not a name that a branch can have."},
		{name: "a folder that is not empty", dir: func(s *front.Scratch) string { return s.Dir }, wrong: "is not empty; a worktree needs a new folder."},
		{name: "a file", do: func(s *front.Scratch) { s.WriteOwn("try", "x") }, wrong: "cannot be a worktree: "},
		{name: "git's own folder", dir: func(*front.Scratch) string { return ".git/try" }, wrong: "is in git's own folder; a worktree stands outside."},
		{name: "a worktree that is gone", do: func(s *front.Scratch) {
			s.Git("worktree", "add", "-q", "--detach", filepath.Join(s.Home, "try"))
			_ = os.RemoveAll(filepath.Join(s.Home, "try"))
		}, wrong: "git still knows a worktree in "},
		{name: "without snapshots", do: func(s *front.Scratch) { s.Configure("[snapshot]\nmode = \"off\"\n") }, there: []string{"README.md"}, absent: []string{"a.txt"}},
		{
			name: "what a snapshot skips", do: func(s *front.Scratch) { s.Write(".git/info/exclude", "c.txt\n") }, there: []string{"a.txt"},
		},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			s, id, ends := source(t)
			if row.do != nil {
				row.do(s)
			}
			dir := filepath.Join(s.Home, "try")
			if row.dir != nil {
				dir = row.dir(s)
			}
			refs, before := s.Git("for-each-ref"), s.Git("worktree", "list")
			var cut fork.ForkCut
			if row.until > 0 {
				cut.Until = strconv.Itoa(ends[row.until-1])
			}
			r := s.Open()
			defer r.Close()
			v, err := cut.View(t.Context(), r, string(id))
			require.NoError(t, err)
			f, err := fork.New(v, cut)
			require.NoError(t, err)
			done, err := f.WithWorktree(t.Context(), dir, row.branch, false)
			if row.wrong != "" {
				require.ErrorContains(t, err, row.wrong)
				require.Equal(t, refs, s.Git("for-each-ref"), "nothing is left behind")
				require.Equal(t, before, s.Git("worktree", "list"))
				return
			}
			require.NoError(t, err)
			if !filepath.IsAbs(dir) {
				dir = filepath.Join(s.Dir, dir)
			}
			require.Equal(t, dir, done.Worktree)
			require.Empty(t, done.Unconverted)
			require.Zero(t, done.Sparse)
			for _, name := range row.there {
				require.FileExists(t, filepath.Join(dir, name))
			}
			for _, name := range row.absent {
				require.NoFileExists(t, filepath.Join(dir, name))
			}
			head := s.Git("rev-parse", "HEAD")
			s.Dir = dir
			require.Equal(t, head, s.Git("rev-parse", "HEAD"))
			require.Equal(t, row.branch, s.Git("branch", "--show-current"))
			asks, request := &front.Front{}, agent.Request{Input: agent.Input{Text: []string{"Go on"}}, Turn: agent.TurnOptions{Yes: true, Model: s.Model("[[reply]]\nmessage = \"Here.\"\ntimes = 9\n")}}
			require.NoError(t, s.Ask(asks, request))
			require.Equal(t, f.ID, asks.Last().ID, "jp starts on the fork there")
		})
	}
}

// TestPointers: a file whose content LFS lacks here stays a pointer, and the user is told.
func TestPointers(t *testing.T) {
	t.Parallel()
	s, id, _ := source(t)
	s.Write(".gitattributes", "*.lfs filter=lfs\n")
	s.Write("pointer.lfs", "version https://git-lfs.github.com/spec/v1\noid sha256:"+fmt.Sprintf("%064d", 1)+"\nsize 5\n")
	s.Commit()
	f, request := &front.Front{}, front.Next(id, "Look")
	request.Turn.Model, request.Turn.Yes = s.Model("[[reply]]\nmessage = \"Here.\"\ntimes = 9\n"), true
	require.NoError(t, s.Ask(f, request))
	r := s.Open()
	defer r.Close()
	v, err := fork.ForkCut{}.View(t.Context(), r, string(id))
	require.NoError(t, err)
	made, err := fork.New(v, fork.ForkCut{})
	require.NoError(t, err)
	done, err := made.WithWorktree(t.Context(), filepath.Join(s.Home, "try"), "", false)
	require.NoError(t, err)
	var paths []string
	for _, u := range done.Unconverted {
		paths = append(paths, u.Path)
	}
	require.Equal(t, []string{"pointer.lfs"}, paths)
	require.FileExists(t, filepath.Join(s.Home, "try/a.txt"))
}

// TestSparesTheMiddle removes the objects between an event and the newest one. With the index, a fork and a
// look at a turn do not read them.
func TestSparesTheMiddle(t *testing.T) {
	t.Parallel()
	s := front.New(t)
	script := journaltest.NewScript(t)
	for i := range 400 {
		script.Turn(fmt.Sprint("request ", i))
	}
	r := s.Open()
	id := journaltest.ID(1)
	_, err := r.Store.Create(t.Context(), id, "", script.Events())
	require.NoError(t, err)
	events := s.Load(id)
	kept := fork.ForkCut{Until: "100", Alone: true}
	_, err = forked(t, s, string(id), kept, nil) // which makes the index
	require.NoError(t, err)
	require.NoError(t, r.Close())
	middle := events[450].Commit
	require.NoError(t, os.Remove(filepath.Join(s.Dir, ".git/objects", middle[:2], middle[2:])))

	for _, until := range []string{"100", "@101", "turn:51"} {
		kept.Until = until
		made, err := forked(t, s, string(id), kept, nil)
		require.NoError(t, err, until)
		require.Equal(t, events[min(made.At.Seq, 101)].Commit, made.At.Commit)
		require.Len(t, made.Kept, made.At.Seq-99)
		require.Equal(t, conversation.StandingOwn, made.SourceStanding())
		require.Len(t, s.Load(made.ID), made.At.Seq+2)
	}
	kept.Alone = false
	_, err = forked(t, s, string(id), kept, nil)
	require.Error(t, err)

	again := s.Open()
	t.Cleanup(func() { again.Close() })
	v, err := again.Find().ViewTurns(t.Context(), s.Host(), string(id), 20, 22)
	require.NoError(t, err)
	require.Equal(t, []int{37, 38, 43}, []int{v.Events[0].Seq, v.Events[1].Seq, v.Events[len(v.Events)-1].Seq})
	require.Equal(t, events[799].Commit, v.Newest().Commit)
	require.False(t, v.Incomplete(v.Events[6]))
}
