package snapshot_test

import (
	"cmp"
	"fmt"
	"math"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"jp/agent/snapshot"
	"jp/conversation"
	"jp/internal/testing/front"
)

func TestMain(m *testing.M) { front.Main(m) }

// shell is a tool call of a shell's command.
func shell(command string) string {
	return fmt.Sprintf("name = \"shell_run\"\narguments = { argv = [\"sh\", \"-c\", %q] }\n", command)
}

// create is a tool call that names the file which it makes.
func create(path string) string {
	return fmt.Sprintf("name = \"fs_create_file\"\narguments = { path = %q, content = \"tool\\n\" }\n", path)
}

// turn runs tool calls one after another, and returns the responses to them.
func turn(t *testing.T, s *front.Scratch, calls ...string) (conversation.ID, []*conversation.Event) {
	t.Helper()
	script := ""
	for _, call := range calls {
		script += "[[reply]]\n[[reply.tool_call]]\n" + call
	}
	f, request := &front.Front{}, s.Request(script+"[[reply]]\nmessage = \"Over.\"\n", "Work")
	request.Turn.Yes = true
	err := s.Ask(f, request)
	all := responses(f.Events())
	if last := fmt.Sprint(recorded(all[len(all)-1])); strings.Contains(last, "git obeys it") {
		require.ErrorContains(t, err, "changed files that git obeys.", "the turn stops")
	} else {
		require.NoError(t, err)
	}
	return f.Last().ID, all
}

func responses(events []*conversation.Event) []*conversation.Event {
	return slices.DeleteFunc(events, func(e *conversation.Event) bool { return e.Type() != conversation.TypeToolCallResponse })
}

var hash = regexp.MustCompile(`\b[0-9a-f]{40,64}\b`)

// recorded is an event's record of the files: the changes with the letters of git, files without their
// content before as ?, and those outside of the snapshot as -.
func recorded(e *conversation.Event) (lines []string) {
	b := e.Body.(*conversation.ToolCallResponse)
	for _, c := range b.Changed {
		letter := "M"
		if c.Before == "" {
			letter = "A"
		} else if c.After == "" {
			letter = "D"
		}
		lines = append(lines, letter+" "+c.Path)
	}
	for _, path := range b.Unrecorded {
		lines = append(lines, "? "+path)
	}
	for _, l := range b.LeftOut {
		lines = append(lines, "- "+l.Path+": "+hash.ReplaceAllString(l.Why, "HASH"))
	}
	return lines
}

// linked makes a linked working tree, in which jp then works.
func linked(s *front.Scratch) {
	s.Git("worktree", "add", "-q", "-b", "beside", filepath.Join(s.Home, "beside"))
	s.Dir = filepath.Join(s.Home, "beside")
}

// TestToolsOnFiles varies the files that are there, a tool's work on them, and the record of its call.
func TestToolsOnFiles(t *testing.T) {
	t.Parallel()
	ignored := func(s *front.Scratch) {
		s.Write(".gitignore", "*.log\nbuild/\n")
		s.Commit()
		s.Write("a.log", "mine\n")
		s.Write("build/out", "mine\n")
	}
	own := func(s *front.Scratch) { s.Write("u.txt", "mine\n"); s.Write("d/v.txt", "mine\n") }
	for _, row := range []struct {
		name   string
		config string
		make   func(s *front.Scratch)
		calls  []string
		want   []string // of the last call
		unseen string   // the words of jp show
		paths  []string // with which jp diff is asked
		diff   string   // its words, of files, staged changes, found files and unknown ones; "": unseen's
	}{
		{name: "nothing", calls: []string{shell("true")}},
		{name: "tracked files", calls: []string{shell("echo x >a.txt; echo y >>README.md")}, want: []string{"M README.md", "A a.txt"}},
		{name: "a tracked file goes", calls: []string{shell("rm README.md")}, want: []string{"D README.md"}},
		{name: "a file that is named", calls: []string{create("a.txt")}, want: []string{"A a.txt"}},
		{name: "a name with odd letters", calls: []string{create("a\u2028b.txt")}, want: []string{"A a\u2028b.txt"}},
		{name: "untracked files change", make: own, calls: []string{shell("echo x >>u.txt")}, want: []string{"A u.txt", "? u.txt"}, diff: "||u.txt|"},
		{name: "untracked files go", make: own, calls: []string{shell("rm -r u.txt d")}, want: []string{"- d/v.txt: deleted, or moved away", "- u.txt: deleted, or moved away"}, unseen: "d (deleted), d/v.txt (deleted, or moved away), u.txt (deleted, or moved away)"},
		{name: "ignored files change", make: ignored, calls: []string{shell("echo x >>a.log; echo x >b.log")}, unseen: "a.log (changed), b.log (new)"},
		{name: "ignored files go", make: ignored, calls: []string{shell("rm -r a.log build")}, unseen: "a.log (deleted), build/ (deleted)"},
		{name: "an ignored file is named", make: ignored, calls: []string{create("c.log")}, want: []string{"- c.log: ignored"}, unseen: "c.log (ignored)"},
		{name: "an ignored file is named and goes", make: ignored, calls: []string{"name = \"fs_delete_file\"\narguments = { path = \"a.log\" }\n"}, want: []string{"- a.log: deleted, or moved away"}, unseen: "a.log (deleted, or moved away)"},
		{name: "without backups, untracked files go", config: "[backup]\nenable = false\n", make: own, calls: []string{shell("rm -r u.txt d")}, want: []string{"- d/v.txt: deleted, or moved away", "- u.txt: deleted, or moved away"}, unseen: "d/v.txt (deleted, or moved away), u.txt (deleted, or moved away)"},
		{name: "without backups, untracked files change", config: "[backup]\nenable = false\n", make: own, calls: []string{shell("echo x >>u.txt")}, want: []string{"A u.txt", "? u.txt"}, diff: "||u.txt|"},
		{name: "without backups, an ignored file is named", config: "[backup]\nenable = false\n", make: ignored, calls: []string{create("c.log")}, want: []string{"- c.log: ignored"}, unseen: "c.log (ignored)"},
		{name: "a large file", calls: []string{shell("head -c 2000000 /dev/zero >big")}, want: []string{"- big: new and over 1048576 bytes"}, unseen: "big (new and over 1048576 bytes)"},
		{name: "a large file that was there", make: func(s *front.Scratch) { s.Write("big", strings.Repeat("x", 2_000_000)) }, calls: []string{shell("echo y >>big")}, want: []string{"- big: new and over 1048576 bytes"}, unseen: "big (new and over 1048576 bytes)"},
		{name: "a large file that was there goes", make: func(s *front.Scratch) { s.Write("big", strings.Repeat("x", 2_000_000)) }, calls: []string{shell("rm big")}, want: []string{"- big: deleted, or moved away"}, unseen: "big (deleted, or moved away)"},
		{name: "a large file that was there stays", make: func(s *front.Scratch) { s.Write("big", strings.Repeat("x", 2_000_000)) }, calls: []string{shell("echo x >a.txt")}, want: []string{"A a.txt"}},
		{name: "a file with secrets", calls: []string{create(".env")}, want: []string{"- .env: looks like a secret"}, unseen: ".env (looks like a secret)"},
		{name: "a tracked file too large to be recorded is put back", make: func(s *front.Scratch) {
			s.Write("data", "small\n")
			s.Commit()
			s.Write("data", strings.Repeat("x", 60_000_000))
		}, calls: []string{shell("git checkout -q data")}, want: []string{"- data: it is again as it was recorded last; what it held before is recorded nowhere"}, unseen: "data (it is again as it was recorded last; what it held before is recorded nowhere)"},
		{name: "two calls", calls: []string{shell("echo x >a.txt"), shell("rm a.txt; echo x >b.txt")}, want: []string{"D a.txt", "A b.txt"}},
		{name: "what is staged", make: func(s *front.Scratch) { s.Write("n.txt", "new\n"); s.Git("add", "n.txt") }, calls: []string{shell("git reset -q")}, want: []string{"- .git/index: no longer staged: n.txt (git cat-file blob 3e757656cf36)"}, unseen: ".git/index (no longer staged: n.txt (git cat-file blob 3e757656cf36))"},
		{name: "what is tracked", make: func(*front.Scratch) {}, calls: []string{shell("git rm -q --cached README.md")}, want: []string{"- .git/index: no longer tracked: README.md; git reset -q -- README.md tracks it again"}, unseen: ".git/index (no longer tracked: README.md; git reset -q -- README.md tracks it again)"},
		{name: "untracked files are staged", make: own, calls: []string{shell("git add u.txt")}, want: []string{"A u.txt", "? u.txt", "- .git/index: newly staged: u.txt; git reset -q -- u.txt unstages"}, diff: "|newly staged: u.txt; git reset -q -- u.txt unstages|u.txt|"},
		{name: "own files are staged", calls: []string{shell("echo x >a.txt; git add a.txt")}, want: []string{"A a.txt"}},
		{name: "staged in two calls", make: own, calls: []string{shell("git add u.txt"), shell("git add d/v.txt; git commit -qm own")}, want: []string{"A d/v.txt", "? d/v.txt"}, diff: "||d/v.txt, u.txt|"},
		{name: "a stash goes", make: func(s *front.Scratch) { s.Write("README.md", "mine\n"); s.Git("stash", "-q") }, calls: []string{shell("git stash drop -q")}, want: []string{"- .git/refs/stash: gone from the stashes; this brings it back: git stash store HASH"}},
		{name: "a stash of the tool's own", calls: []string{shell("echo x >README.md; git stash -q"), shell("git stash drop -q")}},
		{name: "branches", make: func(s *front.Scratch) { s.Git("branch", "side") }, calls: []string{shell("git branch new; git branch -q -D side")}},
		{name: "a hook", calls: []string{shell("echo x >.git/hooks/pre-commit")}, want: []string{"- .git/hooks/pre-commit: git obeys it"}, unseen: ".git/hooks/pre-commit (git obeys it)"},
		{name: "a hook in a linked working tree", make: linked, calls: []string{shell("echo x >$(git rev-parse --git-common-dir)/hooks/pre-commit; echo x >a.txt")}, want: []string{"A a.txt", "- .git/hooks/pre-commit: git obeys it"}, unseen: ".git/hooks/pre-commit (git obeys it)"},
		{name: "the link of a linked working tree", make: linked, calls: []string{shell("echo >>.git")}, want: []string{"- .git: git obeys it"}, unseen: ".git (git obeys it)"},
		{name: "the pick of a commit", calls: []string{shell("mkdir -p .git/rebase-merge; echo exec x >.git/rebase-merge/git-rebase-todo")}, want: []string{"- .git/rebase-merge/git-rebase-todo: git obeys it"}, unseen: ".git/rebase-merge/git-rebase-todo (git obeys it)"},
		{name: "no snapshots", config: "[snapshot]\nmode = \"off\"\n", calls: []string{shell("echo x >a.txt")}, want: []string{"- .: there were no snapshots then"}, unseen: "perhaps more files (there were no snapshots then)"},
		{name: "a hook without snapshots", config: "[snapshot]\nmode = \"off\"\n", calls: []string{shell("echo x >.git/hooks/pre-commit; git branch new")}, want: []string{"- .: there were no snapshots then", "- .git/hooks/pre-commit: git obeys it"}, unseen: ".git/hooks/pre-commit (git obeys it), perhaps more files (there were no snapshots then)"},
		{name: "a named file without snapshots", config: "[snapshot]\nmode = \"off\"\n", calls: []string{create("a.txt")}, want: []string{"- .: there were no snapshots then"}, unseen: "perhaps more files (there were no snapshots then)"},
		{name: "one of several paths", make: ignored, calls: []string{shell("echo x >>a.log; echo x >b.log")}, paths: []string{"b.log"}, unseen: "a.log (changed), b.log (new)", diff: "b.log (new)|||"},
		{name: "a commit of the tool's own", calls: []string{shell("echo x >a.txt; git add a.txt; git commit -qm own")}, want: []string{"A a.txt"}},
		{name: "modes", make: own, calls: []string{shell("chmod 640 u.txt; chmod 700 README.md")}, want: []string{"M README.md", "A u.txt", "? u.txt"}, diff: "||u.txt|"},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			s := front.New(t)
			s.Configure("[sandbox]\nenable = false\n" + row.config)
			if row.make != nil {
				row.make(s)
			}
			id, events := turn(t, s, row.calls...)
			last := events[len(events)-1]
			r := s.Open()
			defer r.Close()
			v, err := r.Find().View(t.Context(), r.Env, string(id))
			require.NoError(t, err)
			diff := snapshot.UnseenBetween(v, 0, math.MaxInt, row.paths)
			require.Equal(t, row.want, recorded(last))
			require.Equal(t, row.unseen, snapshot.UnseenWords(v, 20)(last))
			require.Equal(t, cmp.Or(row.diff, row.unseen+"|||"), strings.Join([]string{diff.Words(20, true), diff.StagedWords(), diff.FoundWords(20), diff.UnknownWords(20)}, "|"))
			require.Equal(t, row.unseen == "" || row.diff != "" && diff.Words(20, true) == "", diff.None())
		})
	}
}

// TestSavedBetweenTools varies how a file is removed that a person saved after the tool before: the saved
// version is recorded as the person's, and comes back.
func TestSavedBetweenTools(t *testing.T) {
	t.Parallel()
	for _, command := range []string{"rm README.md", "git rm -qf README.md"} {
		t.Run(command, func(t *testing.T) {
			t.Parallel()
			s := front.New(t)
			s.Configure("[sandbox]\nenable = false\n")
			saved := false
			person := &front.Person{Any: func(question string) string {
				if !saved && strings.Contains(question, "README.md") {
					saved = true
					s.Write("README.md", "saved\n")
				}
				return conversation.AnswerRun
			}}
			script := ""
			for _, call := range []string{shell("true"), shell("true # again"), shell(command)} {
				script += "[[reply]]\n[[reply.tool_call]]\n" + call
			}
			f := &front.Front{Person: person}
			require.NoError(t, s.Ask(f, s.Request(script+"[[reply]]\nmessage = \"Over.\"\n", "Work")))
			require.True(t, saved)
			events := f.Events()
			i := slices.IndexFunc(events, func(e *conversation.Event) bool { return e.Type() == conversation.TypeWorkspace })
			require.Positive(t, i)
			require.Equal(t, "README.md", events[i].Body.(*conversation.Workspace).Paths[0].Path)
			require.True(t, slices.ContainsFunc(events[i:], func(e *conversation.Event) bool { return e.Type() == conversation.TypeToolStarted }), "it stands before the start of the tool")
			all := responses(events)
			changed := all[2].Body.(*conversation.ToolCallResponse).Changed
			require.Equal(t, []string{"D README.md"}, recorded(all[2]))
			require.Equal(t, "saved", strings.TrimSpace(s.Git("cat-file", "blob", changed[0].Before)))
		})
	}
}
