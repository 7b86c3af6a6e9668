package snapshot_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"jp/agent/snapshot"
	"jp/conversation"
	"jp/internal/testing/front"
	"jp/turnloop"
)

// left is a result that lists paths, each as PATH=WHY.
func left(paths ...string) *conversation.ToolCallResponse {
	b := &conversation.ToolCallResponse{For: 1}
	for _, p := range paths {
		path, why, _ := strings.Cut(p, "=")
		b.LeftOut = append(b.LeftOut, conversation.SkippedPath{Path: path, Why: why})
	}
	return b
}

func changed(paths ...string) *conversation.ToolCallResponse {
	b := &conversation.ToolCallResponse{For: 1}
	for _, p := range paths {
		b.Changed = append(b.Changed, conversation.FileChange{Path: p, After: "x"})
	}
	return b
}

func resumed(paths ...string) *conversation.Resumed {
	b := &conversation.Resumed{Report: &conversation.Report{}}
	for _, p := range paths {
		b.Report.Changed = append(b.Report.Changed, conversation.PathStat{Path: p})
	}
	return b
}

const gone = "deleted, or moved away"

// TestUnseen varies the events of a conversation, and jp's words about the files that all snapshots lack.
func TestUnseen(t *testing.T) {
	t.Parallel()
	moved := &conversation.Event{Body: changed(), Git: &conversation.Git{HeadWas: "x"}}
	for _, row := range []struct {
		name   string
		events []any // bodies, or events
		words  string
		staged string
		others string // files of unknown author
		paths  []string
		kept   []string // that a fork lacks
		left   []string // of the last fork with a working tree of its own
		told   string
	}{
		{name: "nothing", events: []any{changed("a"), resumed("a")}},
		{name: "one", events: []any{left("a=ignored")}, words: "a (ignored)", paths: []string{"a"}, kept: []string{"a"}, told: "Changed, but in no snapshot: a (ignored)."},
		{name: "the newest reason", events: []any{left("a=ignored"), left("a=too large")}, words: "a (too large)", paths: []string{"a"}, kept: []string{"a"}},
		{name: "recorded since", events: []any{left("a=ignored", "b=ignored"), changed("a")}, words: "b (ignored)", paths: []string{"b"}, kept: []string{"b"}},
		{name: "gone", events: []any{left("a="+gone, "b=ignored")}, words: "a (" + gone + "), b (ignored)", paths: []string{"a", "b"}, kept: []string{"b"}},
		{name: "a hook, a ref and a stash", events: []any{left(".git/hooks/x=git obeys it", ".git/refs/jp/x=deleted", ".git/refs/stash=gone")}, words: ".git/hooks/x (git obeys it), .git/refs/jp/x (deleted)", paths: []string{".git/hooks/x", ".git/refs/jp/x"}},
		{name: "perhaps more", events: []any{left("a=ignored", ".=there were no snapshots then")}, words: "a (ignored), perhaps more files (there were no snapshots then)", paths: []string{"a"}, kept: []string{"a"}},
		{name: "more than are listed", events: []any{left("a=ignored", ".=and 5 more")}, words: "a (ignored), and more", paths: []string{"a"}, kept: []string{"a"}},
		{name: "staged by two calls", events: []any{left(".git/index=no longer staged: a"), left(".git/index=no longer staged: b")}, words: ".git/index (no longer staged: a. no longer staged: b)", paths: []string{".git/index"}},
		{name: "staged by two calls alike", events: []any{left(".git/index=no longer staged: a"), left(".git/index=no longer staged: a")}, words: ".git/index (no longer staged: a)", paths: []string{".git/index"}},
		{name: "newly staged", events: []any{left(".git/index=newly staged: a")}, staged: "newly staged: a", told: "newly staged: a."},
		{name: "newly staged, and then committed", events: []any{left(".git/index=newly staged: a"), moved}},
		{name: "a lost call", events: []any{&conversation.ToolStarted{For: 1}, resumed("a", "b")}, others: "2 files changed, by whom is unknown: a, b", told: "While a call of unknown outcome ran, or since then: 2 files changed"},
		{name: "a resume without a lost call", events: []any{&conversation.ToolStarted{For: 1}, changed("c"), resumed("a")}},
		{name: "a resume that did not look", events: []any{&conversation.ToolStarted{For: 1}, &conversation.Resumed{}}},
		{name: "a fork in place", events: []any{left("a=ignored"), &conversation.ForkOrigin{}}, words: "a (ignored)", paths: []string{"a"}, kept: []string{"a"}},
		{name: "a fork elsewhere", events: []any{left("a=ignored", "b="+gone), &conversation.ForkOrigin{CheckedOut: true}}, words: "a (ignored), b (" + gone + ")", paths: []string{"a", "b"}, kept: []string{"a"}, left: []string{"a"}},
		{name: "a fork elsewhere that went on", events: []any{left("a=ignored"), &conversation.ForkOrigin{CheckedOut: true}, &conversation.ChatResponse{}}, words: "a (ignored)", paths: []string{"a"}, kept: []string{"a"}},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			var l snapshot.Unseen
			var events []*conversation.Event
			for i, b := range row.events {
				e, is := b.(*conversation.Event)
				if !is {
					e = &conversation.Event{Body: b.(conversation.Body)}
				}
				e.Seq = i
				events = append(events, e)
				l.Follow(e)
			}
			require.Equal(t, row.words, l.Words(20, true))
			require.Equal(t, row.staged, l.StagedWords())
			require.Equal(t, row.others, l.UnknownWords(20))
			require.Equal(t, row.paths, l.Paths())
			require.Equal(t, row.words == "", l.None())
			require.Equal(t, row.kept, l.Kept().Paths())
			require.Equal(t, row.left, snapshot.LeftBehind(events).Paths())
			for _, path := range row.paths {
				require.True(t, l.Has(path))
				require.True(t, l.Has(filepath.Dir(path)) || filepath.Dir(path) == ".")
				require.False(t, l.Has(path+"x"))
			}
			s := front.New(t)
			l.Tell(s.Host())
			if row.told != "" {
				require.Contains(t, strings.Join(s.Notes(), "\n"), row.told)
			}
			require.Equal(t, row.words+row.staged+row.others == "", len(s.Notes()) == 0)
			require.Equal(t, strings.Count(row.words, gone) == 0, len(l.List()) == len(l.WithoutGone(row.paths).List()))
		})
	}
	var found snapshot.Unseen
	found.Follow(&conversation.Event{Body: &conversation.ToolCallResponse{Unrecorded: []string{"a", "b"}}})
	require.Equal(t, "a, and 1 more", found.FoundWords(1))
	s := front.New(t)
	found.Tell(s.Host())
	require.Equal(t, []string{"There before, and in no snapshot then, so that all of it counts as added: a, b."}, s.Notes())
	require.Equal(t, 1, snapshot.HeadMoved([]*conversation.Event{{Body: changed()}, {Seq: 1, Git: moved.Git, Body: changed()}, {Seq: 2, Git: &conversation.Git{}, Body: changed()}}))
	require.Equal(t, []string{"b"}, snapshot.LeftOutPaths(left("a="+gone, "b=ignored").LeftOut))
}

// TestMentioned varies the arguments of a call.
func TestMentioned(t *testing.T) {
	t.Parallel()
	for arguments, want := range map[string][]string{
		`{"path":"a/b.txt"}`: {"a/b.txt"}, `{"paths":["a","b"]}`: {"a", "b"}, `{"path":"a","paths":["b"]}`: {"a", "b"},
		`{"path":["a"]}`: nil, `{"paths":"a"}`: nil, `{"path":1,"paths":["a"]}`: {"a"}, `{"other":"a"}`: nil, `["a"]`: nil, `{`: nil,
		`{"path":"/etc/x"}`: {}, `{"path":"../x"}`: {}, `{"path":"."}`: {}, `{"path":"a/.."}`: {}, `{"path":""}`: {}, `{"paths":["a","/b",".git/x"]}`: {"a"},
	} {
		require.ElementsMatch(t, want, snapshot.Mentioned([]byte(arguments)), arguments)
	}
}

// TestFilesHere varies the kind of a path, and asks for its digest, its content, and whether a snapshot can
// hold it.
func TestFilesHere(t *testing.T) {
	t.Parallel()
	s := front.New(t)
	s.Write(".gitignore", "*.log\n")
	s.Commit()
	for _, path := range []string{"d/one", "d/sub/two", "a.log"} {
		s.Write(path, "text\n")
	}
	s.WriteOwn("outside/one", "text\n")
	require.NoError(t, os.Symlink("d", filepath.Join(s.Dir, "link")))
	r := s.Open()
	defer r.Close()
	f, err := snapshot.OpenFiles(t.Context(), r)
	require.NoError(t, err)
	require.Nil(t, f.Digest(), "without a key there are none")
	require.Nil(t, f.Listing())
	f.Root, err = os.OpenRoot(s.Dir)
	require.NoError(t, err)
	defer f.Root.Close()
	require.Nil(t, f.Digest())
	require.Nil(t, f.Listing())
	f.Key = []byte("key")

	digest := f.Digest()
	one, known := digest("d/one")
	require.True(t, known)
	s.Write("d/one", "other\n")
	other, known := digest("d/one")
	require.True(t, known)
	require.NotEqual(t, one, other)
	outside, known := digest(filepath.Join(s.Home, "outside/one"))
	require.True(t, known)
	require.NotEmpty(t, outside)

	for _, row := range []struct {
		folder string
		most   int
		want   []string
		less   bool
	}{
		{folder: "d", most: 10, want: []string{"d", "d/one", "d/sub/two"}},
		{folder: "d/sub", most: 10, want: []string{"d/sub", "d/sub/two"}},
		{folder: "link", most: 10, want: []string{"link", "link/one", "link/sub/two"}},
		{folder: filepath.Join(s.Home, "outside"), most: 10, want: []string{filepath.Join(s.Home, "outside"), filepath.Join(s.Home, "outside/one")}},
		{folder: "d", most: 1, less: true},
		{folder: "d/one", most: 10},
		{folder: "none", most: 10},
	} {
		files, ok := f.Listing()(row.folder, row.most)
		require.Equal(t, !row.less, ok, row.folder)
		var paths []string
		for _, file := range files {
			paths = append(paths, file.Path)
		}
		if !row.less {
			require.Equal(t, row.want, paths, row.folder)
		}
	}
	require.True(t, f.Restorable(t.Context(), []string{"d/one"}))
	require.False(t, f.Restorable(t.Context(), []string{"d/one", "a.log"}))
	off := front.New(t)
	off.Configure("[snapshot]\nmode = \"off\"\n")
	without := off.Open()
	defer without.Close()
	none, err := snapshot.OpenFiles(t.Context(), without)
	require.NoError(t, err)
	require.True(t, none.Off)
	require.False(t, none.Restorable(t.Context(), []string{"README.md"}))
	unwatched, err := snapshot.UnwatchedFiles(t.Context(), r)
	require.NoError(t, err)
	here, err := unwatched.Place(t.Context())
	require.NoError(t, err)
	require.Equal(t, "main", here.Branch)

	var uncopied []string
	for _, u := range f.NoCopy(t.Context())() {
		uncopied = append(uncopied, u.Path)
	}
	require.Empty(t, uncopied)
	require.Nil(t, none.NoCopy(t.Context()), "there are no backups")
}

// TestHold: one process at a time changes files. The user is told of the wait.
func TestHold(t *testing.T) {
	t.Parallel()
	s := front.New(t)
	r := s.Open()
	defer r.Close()
	open := func() (f *snapshot.Files, told chan string) {
		f, err := snapshot.OpenFiles(t.Context(), r)
		require.NoError(t, err)
		told = make(chan string, 1)
		f.Notice = func(text string) { told <- text }
		return f, told
	}
	first, _ := open()
	release, err := first.Hold(t.Context())
	require.NoError(t, err)
	second, told := open()
	ctx, cancel := context.WithTimeout(t.Context(), time.Millisecond)
	defer cancel()
	_, err = second.Hold(ctx)
	require.ErrorIs(t, err, context.DeadlineExceeded)
	require.Empty(t, told, "one who leaves at once is told nothing")
	held := make(chan func())
	go func() {
		again, err := second.Hold(t.Context())
		if err == nil {
			held <- again
		}
		close(held)
	}()
	require.Contains(t, <-told, "Another jp changes files in this working tree; waiting for it.")
	release()
	(<-held)()
}

// TestChangedByTools: a commit of the agent's work has the changes of its tools, and knows the unrecorded
// ones.
func TestChangedByTools(t *testing.T) {
	t.Parallel()
	s := front.New(t)
	s.Write(".gitignore", "*.log\n")
	s.Commit()
	id, _ := turn(t, s, create("a.log"), create("b.txt"), create("c.txt"))
	r := s.Open()
	defer r.Close()
	recorded, unrecorded, err := snapshot.ChangedByTools(t.Context(), r, id)
	require.NoError(t, err)
	require.Equal(t, []string{"b.txt", "c.txt"}, recorded)
	require.Equal(t, []string{"a.log"}, unrecorded)
	_, _, err = snapshot.ChangedByTools(t.Context(), r, "jp-c17952552000-none")
	require.Error(t, err)
}

// TestNoCopy varies the files of the working tree. Before a program runs, the user is told which of them jp
// does not copy.
func TestNoCopy(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		name   string
		config string
		want   []string
	}{
		{name: "a folder that git ignores", want: []string{"build/"}},
		{name: "a large file", config: "file_size = 5\n", want: []string{"a.log (7 B)", "build/"}},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			s := front.New(t)
			s.Configure("[backup]\n" + row.config)
			s.Write(".gitignore", "*.log\nbuild/\n")
			s.Commit()
			s.Write("a.log", "longer\n")
			s.Write("b.log", "x\n")
			s.Write("build/out", "x\n")
			r := s.Open()
			defer r.Close()
			f, err := snapshot.OpenFiles(t.Context(), r)
			require.NoError(t, err)
			var shown []string
			for _, u := range f.NoCopy(t.Context())() {
				shown = append(shown, u.Shown)
			}
			require.ElementsMatch(t, row.want, shown)
		})
	}
}

// TestControlCodes varies the work of a program in the git directory. The codes of the files that git obeys
// differ afterwards. An operation that starts no program has none.
// an operation that starts no program are none.
func TestControlCodes(t *testing.T) {
	t.Parallel()
	s := front.New(t)
	s.Write(".git/hooks/pre-push", "one\n")
	r := s.Open()
	defer r.Close()
	f, err := snapshot.OpenFiles(t.Context(), r)
	require.NoError(t, err)
	codes := func() map[string]string {
		seen, err := f.Look(t.Context(), turnloop.SnapshotRequest{Control: true, Only: []string{"README.md"}})
		require.NoError(t, err)
		all := map[string]string{}
		for _, c := range seen.Control {
			all[c.Path] = c.Digest
		}
		return all
	}
	require.Empty(t, codes(), "without a key there are none")
	f.Key = []byte("key")
	before := codes()
	require.Contains(t, before, ".git/config")
	for _, row := range []struct {
		path, text string
		changed    []string
	}{
		{path: ".git/hooks/pre-push", text: "one\n"},
		{path: ".git/hooks/pre-push", text: "two\n", changed: []string{".git/hooks/pre-push"}},
		{path: ".git/sequencer/todo", text: "pick 1\n"},
		{path: ".git/sequencer/todo", text: "exec x\n", changed: []string{".git/sequencer/todo"}},
		{path: ".git/description", text: "x\n"},
	} {
		s.Write(row.path, row.text)
		after := codes()
		var changed []string
		for path, code := range after {
			if before[path] != code {
				changed = append(changed, path)
			}
		}
		require.Equal(t, row.changed, changed, "%s %s", row.path, row.text)
		before = after
	}
}
