package agent_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"jp/conversation"
	"jp/internal/testing/front"
)

// TestNestedRepositories varies the work of a tool in repositories below the working tree. Snapshots lack it,
// and jp says so.
func TestNestedRepositories(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		name    string
		command string
		want    []conversation.SkippedPath
	}{
		{name: "nothing", command: "true"},
		{name: "a repository that is new, and gone", command: "git init -q gone; rm -r gone"},
		{name: "files inside", command: "echo tool >>sub/f; rm nest/n", want: []conversation.SkippedPath{{Path: "nest", Why: "changed inside another repository"}, {Path: "sub", Why: "changed inside the submodule"}}},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			s, f := front.New(t), &front.Front{}
			inner := filepath.Join(s.Home, "inner")
			s.Git("init", "-q", inner)
			s.WriteOwn("inner/f", "f\n")
			s.Git("-C", inner, "add", ".")
			s.Git("-C", inner, "commit", "-q", "-m", "f")
			s.Git("submodule", "--quiet", "add", inner, "sub")
			s.Commit()
			s.Git("init", "-q", "nest")
			s.Git("init", "-q", "empty")
			s.Write("nest/n", "mine\n")
			require.NoError(t, s.Ask(f, approved(s.Request(shell(row.command), "Go"))))
			result := bodies[*conversation.ToolCallResponse](f.Events())[0]
			require.Equal(t, row.want, result.LeftOut)
			require.Empty(t, result.Changed)
			request := front.Next(f.Last().ID, "And now?")
			request.Turn.Model = s.Model(says)
			require.NoError(t, s.Ask(f, request))
			require.Empty(t, bodies[*conversation.Workspace](f.Events()), "another repository is no outside change")
		})
	}
}

// TestStagedFiles varies the changes of a tool to git's index. jp names the files that it unstages, with the
// command that shows them.
func TestStagedFiles(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		name, command string
		unstaged      bool // the index is as HEAD
		want          string
	}{
		{name: "a reset", command: "git reset -q; echo more >more", want: "no longer staged: README.md (git cat-file blob OLD), new (git cat-file blob NEW)"},
		{name: "a commit", command: "git commit -qm two"},
		{name: "a look", command: "git status"},
		{name: "a reset of nothing", command: "git reset -q", unstaged: true},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			s, f := front.New(t), &front.Front{}
			s.Write("README.md", "staged\n")
			s.Write("new", "one\n")
			if !row.unstaged {
				s.Git("add", "README.md", "new")
			}
			blob := func(path string) string { return s.Git("hash-object", path)[:12] }
			want := strings.NewReplacer("OLD", blob("README.md"), "NEW", blob("new")).Replace(row.want)
			s.Write("new", "two\n")
			require.NoError(t, s.Ask(f, approved(s.Request(shell(row.command), "Go"))))
			why := ""
			for _, skipped := range bodies[*conversation.ToolCallResponse](f.Events())[0].LeftOut {
				require.Equal(t, ".git/index", skipped.Path)
				why += skipped.Why
			}
			require.Equal(t, want, why)
			if row.want != "" {
				require.Equal(t, "one", s.Git("cat-file", "blob", want[len(want)-13:len(want)-1]))
			}
		})
	}
}

// TestOutsideChanges: changes by the user between two turns are the user's, and untracked files stay theirs.
func TestOutsideChanges(t *testing.T) {
	t.Parallel()
	s, f := front.New(t), &front.Front{}
	require.NoError(t, s.Ask(f, approved(s.Request(calling(`fs_create_file { path = "a.txt", content = "one\ntwo\n" }`), "Make a file"))))
	id := f.Last().ID
	ref := "refs/jp/conversations/" + string(id)
	s.Write("a.txt", "one\nby hand\n")
	s.Write("README.md", "one\nby hand\n")
	require.NoError(t, s.Ask(f, front.Next(id, "Look again")))
	outside := bodies[*conversation.Workspace](s.Load(id))
	require.Len(t, outside, 1)
	require.Equal(t, "README.md M a.txt M", outside[0].Paths[0].Path+" "+string(outside[0].Paths[0].Status)+" "+outside[0].Paths[1].Path+" "+string(outside[0].Paths[1].Status))
	require.Contains(t, subjects(s, id), "outside: 2 files changed\n")
	require.Regexp(t, `\(fs_create_file .* 1\) one\n.*\(Ada Lovelace .* 2\) by hand$`, s.Git("blame", ref, "--", "a.txt"))
	require.Equal(t, "Ada Lovelace", s.Git("log", "-1", "--format=%an", "main.."+ref, "--", "README.md"))

	s.Git("switch", "-q", "-c", "elsewhere")
	s.Commit()
	require.NoError(t, s.Ask(f, front.Next(id, "Where are we?")))
	starts := []*conversation.Event{}
	for _, e := range s.Load(id) {
		if e.Type() == conversation.TypeTurnStart {
			starts = append(starts, e)
		}
	}
	require.Equal(t, "elsewhere", starts[2].Git.Branch)
	s.Git("fsck", "--strict", "--no-dangling")

	s.Write("mine.txt", "mine\n")
	request := approved(front.Next(id, "Make another file"))
	request.Turn.Model = s.Model("[[reply]]\ntimes = 4\n" + calling(`fs_create_file { path = "b.txt", content = "b\n" }`))
	require.NoError(t, s.Ask(f, request))
	require.Equal(t, "README.md a.txt b.txt", strings.Join(strings.Fields(s.Git("ls-tree", "--name-only", ref)), " "))
}

// TestEnvironment: the model is told the date, the folder and the branch once, and again when one of them changes.
func TestEnvironment(t *testing.T) {
	t.Parallel()
	s, f := front.New(t), &front.Front{}
	require.NoError(t, os.Mkdir(filepath.Join(s.Dir, "pkg"), 0o700))
	s.Write("pkg/a.txt", "one\n")
	s.Commit()
	root, id := s.Dir, conversation.ID("")
	for _, step := range []struct {
		do   func()
		want string // "": the note is missing
	}{
		{want: "^\\[ENVIRONMENT\\] Today is 2026-11-21\\. The system is [a-z0-9]+\\. jp runs in the root of the working tree, on the branch \"main\"\\.$"},
		{},
		{do: func() { s.Git("switch", "-q", "-c", "fix") }, want: "on the branch \"fix\""},
		{do: func() {
			s.Dir = filepath.Join(root, "pkg")
			s.Environ = append(s.Environ, "SHELL=/usr/bin/zsh")
		}, want: "The user's shell is \"zsh\"\\. jp runs in the folder \"pkg\" of the working tree"},
		{do: func() { id = "" }, want: "of the working tree, on the branch \"fix\""},
	} {
		if step.do != nil {
			step.do()
		}
		request := s.Request(says, "Hello")
		if id != "" {
			request = front.Next(id, "Again")
		}
		before := len(f.Events())
		require.NoError(t, s.Ask(f, request))
		id = f.Last().ID
		told := ""
		for _, b := range bodies[*conversation.TurnStart](f.Events()[before:]) {
			told += b.Environment
		}
		require.Equal(t, step.want != "", told != "", told)
		require.Regexp(t, step.want, told)
	}
}
