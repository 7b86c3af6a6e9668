package blame_test

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"jp/agent/repo"
	"jp/blame"
	"jp/conversation"
	"jp/internal/testing/front"
	"jp/internal/testing/journaltest"
)

func TestMain(m *testing.M) { front.Main(m) }

// call is a reply of a model that wants one tool.
func call(tool, arguments string) string {
	return fmt.Sprintf("[[reply]]\n[[reply.tool_call]]\nname = %q\narguments = { %s }\n", tool, arguments)
}

const (
	over = "[[reply]]\nmessage = \"Over.\"\n"
	poem = "the first line of the poem\nthe second line of the poem\n"
)

// worked is a repository in which an agent created poem.txt in its first turn, read it and added a line in the second one,
// before which a person had added one.
func worked(t *testing.T) (*front.Scratch, *repo.Repo, conversation.ID) {
	t.Helper()
	s := front.New(t)
	f, request := &front.Front{}, s.Request(call("fs_create_file", fmt.Sprintf("path = 'poem.txt', content = %q", poem))+over+
		call("fs_read_file", "path = 'poem.txt'")+call("shell_run", "argv = ['sh', '-c', 'echo and the third line >>poem.txt; echo new >new.txt']")+over, "Write")
	request.Turn.Yes = true
	require.NoError(t, s.Ask(f, request))
	s.Write("poem.txt", poem+"a line of a person\n")
	next := front.Next(f.Last().ID, "Add")
	next.Turn.Yes = true
	require.NoError(t, s.Ask(f, next))
	r := s.Open()
	t.Cleanup(func() { require.NoError(t, r.Close()) })
	return s, r, f.Last().ID
}

func index(t *testing.T, r *repo.Repo) *blame.Index {
	t.Helper()
	x, err := blame.OpenIndex(t.Context(), r)
	require.NoError(t, err)
	require.Empty(t, x.Left)
	return x
}

func view(t *testing.T, s *front.Scratch, r *repo.Repo, id conversation.ID) *repo.View {
	t.Helper()
	v, err := r.Find().View(t.Context(), s.Host(), string(id))
	require.NoError(t, err)
	return v
}

var scripted = regexp.MustCompile(`script/\S+`)

// told are jp's words about a line, without the times.
func told(l blame.BlamedLine) string {
	var b strings.Builder
	for _, row := range l.Explain() {
		_, text, timed := strings.Cut(row[2], l.When()+"  ")
		if !timed || l.When() == "" {
			text = row[2]
		}
		fmt.Fprintf(&b, "%s %s %s\n", row[0], row[1], text)
	}
	return scripted.ReplaceAllString(b.String(), "script/M")
}

func TestWritersOfLines(t *testing.T) {
	s, r, id := worked(t)
	first, second := poem[:strings.Index(poem, "\n")], "and the third line"
	lines, err := index(t, r).Lines(t.Context(), blame.Question{Path: "poem.txt"})
	require.NoError(t, err)
	var refs []string
	for _, l := range lines {
		refs = append(refs, l.Ref()[strings.Index(l.Ref(), "@"):]+" "+l.Author()+": "+l.Text)
	}
	require.Equal(t, []string{
		"@5 fs_create_file: " + first, "@5 fs_create_file: the second line of the poem",
		"@9 Ada Lovelace: a line of a person", "@15 shell_run: " + second,
	}, refs)
	t.Run("one line", func(t *testing.T) {
		for n, want := range map[int]string{
			1: "written @5 fs_create_file (call_1_1) by script/M\nfor @2 Ada Lovelace: Write\nallowed @0 approved in advance (-y)\n",
			3: "written @9 Ada Lovelace: outside: poem.txt changed (+1 -0)\n",
			4: "written @15 shell_run (call_4_1) by script/M\nbecause @12 fs_read_file poem.txt: 3 lines\nfor @10 Ada Lovelace: Add\nallowed @8 approved in advance (-y)\n",
		} {
			lines, err := index(t, r).Lines(t.Context(), blame.Question{Path: "poem.txt", Line: n, Only: string(id)})
			require.NoError(t, err)
			require.Len(t, lines, 1)
			require.NoError(t, lines[0].Trace(t.Context(), s.Host()))
			require.Equal(t, want, told(lines[0]), "line %d", n)
			data, err := json.Marshal(lines[0].Object(true))
			require.NoError(t, err)
			require.Equal(t, n == 1, strings.Contains(string(data), `"tool":"fs_create_file"`) && strings.Contains(string(data), `"for":{"seq":2,"text":"Write"}`), "%s", data)
		}
	})
	t.Run("one conversation", func(t *testing.T) {
		lines, err := index(t, r).Lines(t.Context(), blame.Question{Path: "poem.txt", Only: "jp-c17528832001-k3f9", Session: string(id)})
		require.NoError(t, err)
		require.Equal(t, "-", lines[0].Ref())
		require.Equal(t, "(not recorded)", lines[0].Author())
		require.Empty(t, lines[0].When())
		require.Equal(t, "jp-c17528832001-k3f9", lines[0].Object(false)["conversation"])
		require.Nil(t, lines[0].Object(false)["author"])
		require.Equal(t, "written - since the newest snapshot: not recorded by whom\n", told(lines[0]))
	})
	t.Run("a commit", func(t *testing.T) {
		lines, err := index(t, r).Lines(t.Context(), blame.Question{Path: "README.md", Line: 1})
		require.NoError(t, err)
		require.Equal(t, "Ada Lovelace", lines[0].Author())
		require.Contains(t, told(lines[0]), "Ada Lovelace: first (a commit)")
		require.Equal(t, s.Git("rev-parse", "HEAD"), lines[0].Object(false)["commit"])
		require.Equal(t, s.Git("rev-parse", "HEAD")[:7], lines[0].Ref())
		require.NotContains(t, lines[0].Object(false), "for")
	})
	t.Run("no such line or file", func(t *testing.T) {
		_, err := index(t, r).Lines(t.Context(), blame.Question{Path: "poem.txt", Line: 9})
		require.ErrorContains(t, err, "poem.txt has 4 lines")
		_, err = index(t, r).Lines(t.Context(), blame.Question{Path: "nothing.txt"})
		require.ErrorContains(t, err, "no conversation has one")
	})
	t.Run("a deleted file", func(t *testing.T) {
		require.NoError(t, os.Remove(filepath.Join(s.Dir, "new.txt")))
		lines, err := index(t, r).Lines(t.Context(), blame.Question{Path: "new.txt"})
		require.NoError(t, err)
		require.Len(t, lines, 1)
		require.Equal(t, "shell_run", lines[0].Author())
	})
}

func TestWhyOfACommit(t *testing.T) {
	s, r, id := worked(t)
	s.Tick(2 * time.Hour) // git's clock is an hour behind
	s.Git("add", "poem.txt")
	s.Git("commit", "-q", "-m", "Poem", "-m", fmt.Sprintf("Jp-Conversation: %s@5\nJp-Conversation: %s@5\nJp-Conversation: jp-c17528832001-k3f9@4", id, id))
	e, err := index(t, r).Why(t.Context(), "HEAD")
	require.NoError(t, err)
	require.Equal(t, "Poem", e.Subject)
	require.Equal(t, []blame.Share{{Conversation: string(id), Lines: 3, Share: 0.75, Events: []int{5, 15}}}, e.Conversations)
	require.Equal(t, []blame.Trailer{{Conversation: string(id), Seq: 5, Here: true}, {Conversation: "jp-c17528832001-k3f9", Seq: 4}}, e.Trailers)
	require.Equal(t, [][]string{{id.Short(), "3 lines", "75 %", "@5 @15"}, {"-", "1 line", "25 %", "no conversation has them"}}, e.Rows())
	require.Equal(t, []string{fmt.Sprintf("The message names %s@5.", id), "The message names jp-c17528832001-k3f9@4, which is not here."}, e.Notes())

	followed := func(word string) (string, error) { return blame.Followed(t.Context(), s.Host(), r, word) }
	for word, want := range map[string]string{"HEAD": string(id) + "@5", "HEAD~1": "HEAD~1", string(id): string(id), "nonsense": "nonsense", "abcdef1": "abcdef1"} {
		got, err := followed(word)
		require.NoError(t, err)
		require.Equal(t, want, got)
	}
	s.Git("mv", "poem.txt", "song.txt")
	s.Write("song.txt", s.Read("song.txt")+"a second line of a person\n")
	s.Git("add", ".")
	s.Git("commit", "-q", "-m", "Lie", "-m", "Jp-Conversation: jp-c17528832001-k3f9@4")
	_, err = followed("HEAD")
	require.ErrorContains(t, err, "names jp-c17528832001-k3f9, which is not here")
	e, err = index(t, r).Why(t.Context(), "HEAD")
	require.NoError(t, err)
	require.Equal(t, 2, e.Lines, "the line of a person, and new.txt")
	require.Equal(t, 1, e.Unknown)
	root, err := index(t, r).Why(t.Context(), s.Git("rev-list", "--max-parents=0", "HEAD"))
	require.NoError(t, err)
	require.Equal(t, [][]string{{"-", "1 line", "100 %", "no conversation has them"}}, root.Rows())
	for _, word := range []string{"nonsense", "", "-x"} {
		_, err = index(t, r).Why(t.Context(), word)
		require.ErrorContains(t, err, "there is no commit")
	}
}

func TestMessageHook(t *testing.T) {
	s, r, id := worked(t)
	h := blame.NewMessageHook(r, "/bin/true it's")
	path := filepath.Join(h.Dir(), "commit-msg")
	done, err := h.Uninstall()
	require.NoError(t, err)
	require.False(t, done, "there is none")
	require.NoError(t, os.WriteFile(path, []byte("#!/bin/sh\necho own >own\n"), 0o755))
	for range 2 {
		require.NoError(t, h.Check(t.Context()))
		said, err := h.Install()
		require.NoError(t, err)
		require.Contains(t, said, "Your own hook is commit-msg.before-jp now, and runs first.")
	}
	require.FileExists(t, path+".before-jp")
	s.Git("commit", "-q", "--allow-empty", "-m", "with the hook")
	require.Equal(t, "own\n", s.Read("own"))
	data, err := os.ReadFile(path)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(path, append(data, "echo more\n"...), 0o755))
	require.ErrorContains(t, h.Check(t.Context()), "was changed since jp wrote it")
	require.NoError(t, os.WriteFile(path, []byte("#!/bin/sh\n"), 0o755))
	require.ErrorContains(t, h.Check(t.Context()), "is in the way")
	_, err = h.Install()
	require.Error(t, err)
	require.NoError(t, os.WriteFile(path, data, 0o755))
	done, err = h.Uninstall()
	require.NoError(t, err)
	require.True(t, done)
	require.NoFileExists(t, path+".before-jp")
	own, err := os.ReadFile(path)
	require.NoError(t, err)
	require.Contains(t, string(own), "echo own")
	require.NoError(t, os.Remove(path))
	said, err := h.Install()
	require.NoError(t, err)
	require.NotContains(t, said, "Your own hook")
	done, err = h.Uninstall()
	require.NoError(t, err)
	require.True(t, done)
	require.NoFileExists(t, path)
	s.Git("config", "core.hooksPath", "elsewhere")
	require.ErrorContains(t, h.Check(t.Context()), "core.hooksPath is elsewhere")

	named := func(message, index0 string) string {
		file := filepath.Join(t.TempDir(), "MSG")
		require.NoError(t, os.WriteFile(file, []byte(message), 0o644))
		require.NoError(t, index(t, r).NameStaged(t.Context(), file, index0, ""))
		data, err := os.ReadFile(file)
		require.NoError(t, err)
		return string(data)
	}
	trailer := fmt.Sprintf("Jp-Conversation: %s@15\n", id)
	require.Equal(t, "Poem\n", named("Poem\n", ""), "nothing is staged")
	s.Git("add", "poem.txt")
	scissors := "# ------------------------ >8 ------------------------\nPoem\n"
	for message, want := range map[string]string{
		"Poem\n":                         "Poem\n\n" + trailer,
		"Poem\n\n# a comment\n":          "Poem\n\n" + trailer + "\n# a comment\n",
		"Poem\n" + scissors:              "Poem\n\n" + trailer + scissors,
		"Poem\n\n" + trailer:             "Poem\n\n" + trailer,
		"\n# a comment\n":                "\n# a comment\n",
		"Poem\n\nSigned-off-by: A <a>\n": "Poem\n\nSigned-off-by: A <a>\n" + trailer,
	} {
		require.Equal(t, want, named(message, ""))
	}
	require.Equal(t, "Poem\n", named("Poem\n", filepath.Join(t.TempDir(), "empty")), "another index")
	s.Git("config", "core.commentChar", ";")
	require.Equal(t, "Poem\n# text\n\n"+trailer+"; comment\n", named("Poem\n# text\n; comment\n", ""))
	require.NoError(t, os.WriteFile(filepath.Join(r.At.GitDir, "MERGE_HEAD"), []byte(s.Git("rev-parse", "HEAD")+"\n"), 0o644))
	require.Equal(t, "Poem\n", named("Poem\n", ""), "a merge")
}

func TestEntriesOfALog(t *testing.T) {
	s, r, id := worked(t)
	v := view(t, s, r, id)
	tests := map[string]struct {
		options blame.LogOptions
		want    string // the events
		changed string // by the last of them
	}{
		"all":            {blame.LogOptions{Reverse: true}, "0 2 3 5 6 8 9 10 11 12 13 15 16", ""},
		"newest first":   {blame.LogOptions{Limit: 2}, "16 15", ""},
		"one turn":       {blame.LogOptions{Turn: 1, Reverse: true}, "0 2 3 5 6", ""},
		"internal too":   {blame.LogOptions{Limit: 3, Internal: true, Reverse: true}, "15 16 17", ""},
		"one path":       {blame.LogOptions{Within: []string{"poem.txt"}, Paths: []string{"poem.txt"}}, "15 9 5", "A poem.txt 2"},
		"with numbers":   {blame.LogOptions{Within: []string{"new.txt"}, Paths: []string{"new.txt"}, Stat: true}, "15", "A new.txt 1"},
		"with a patch":   {blame.LogOptions{Turn: 1, Patch: true}, "6 5 3 2 0", ""},
		"before a limit": {blame.LogOptions{Within: []string{"poem.txt"}, Paths: []string{"poem.txt"}, Limit: 1}, "15", "M poem.txt 1"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			entries, err := blame.Entries(t.Context(), v, tt.options)
			require.NoError(t, err)
			var seqs, changed []string
			for _, e := range entries {
				seqs = append(seqs, fmt.Sprint(e.Event.Seq))
				changed = nil
				for _, c := range e.Changes {
					changed = append(changed, fmt.Sprintf("%s %s %d", c.Status, c.Path, c.Added))
				}
			}
			require.Equal(t, tt.want, strings.Join(seqs, " "))
			require.Equal(t, tt.changed, strings.Join(changed, ", "))
		})
	}
	_, err := blame.Entries(t.Context(), v, blame.LogOptions{Turn: 9})
	require.Error(t, err)
	require.Nil(t, blame.LogOptions{}.Reach())
	require.Nil(t, blame.LogOptions{Limit: 1, Paths: []string{"a"}}.Reach())
	reach := blame.LogOptions{Limit: 2}.Reach()
	require.False(t, reach(v.Events[2:5]), "two are shown")
	require.True(t, reach(v.Events[2:6]))

	entries, err := blame.Entries(t.Context(), v, blame.LogOptions{})
	require.NoError(t, err)
	command, err := blame.GitLog(t.Context(), v, entries, blame.LogOptions{Stat: true, Reverse: true, Paths: []string{"a b"}})
	require.NoError(t, err)
	require.Equal(t, fmt.Sprintf("git log --oneline --first-parent --reverse --stat '%s^..%s' -- 'a b'", v.Events[0].Commit[:12], v.Events[16].Commit[:12]), command)
	command, err = blame.GitLog(t.Context(), v, []blame.Entry{{Event: v.Events[0]}, {Event: v.Newest()}}, blame.LogOptions{Patch: true, Stat: true})
	require.NoError(t, err)
	require.Equal(t, fmt.Sprintf("git log --oneline --first-parent --patch '%s^..%s'", v.Events[0].Commit[:12], repo.RefOf(id)), command)
}

// TestLogByTurn compares the log that reads turn by turn with the one of all events.
func TestLogByTurn(t *testing.T) {
	s, r, id := worked(t)
	for name, o := range map[string]blame.LogOptions{
		"all": {}, "internal": {Internal: true}, "stat": {Stat: true}, "patch": {Patch: true},
		"paths": {Within: []string{"poem.txt"}}, "the last of paths": {Within: []string{"poem.txt"}, Limit: 1, Stat: true},
	} {
		o.Target, o.Paths = string(id), o.Within
		want, err := blame.OpenLog(t.Context(), s.Host(), r, o, true)
		require.NoError(t, err)
		l, err := blame.OpenLog(t.Context(), s.Host(), r, o, false)
		require.NoError(t, err)
		require.Empty(t, l.Entries, name)
		var got []blame.Entry
		for it, err := range l.Each(t.Context()) {
			require.NoError(t, err)
			require.False(t, l.View.Incomplete(it.Event))
			got = append(got, it)
		}
		require.Equal(t, want.Entries, got, name)
		require.NotEmpty(t, got)
	}
}

// TestLogStopsWithItsReader removes an early event: a reader of the newest entries stops before it.
func TestLogStopsWithItsReader(t *testing.T) {
	s := front.New(t)
	script := journaltest.NewScript(t)
	for i := range 100 {
		script.Turn(fmt.Sprint("request ", i))
	}
	r := s.Open()
	t.Cleanup(func() { require.NoError(t, r.Close()) })
	id := journaltest.ID(1)
	_, err := r.Store.Create(t.Context(), id, "", script.Events())
	require.NoError(t, err)
	early := s.Load(id)[40].Commit
	require.NoError(t, os.Remove(filepath.Join(s.Dir, ".git/objects", early[:2], early[2:])))
	l, err := blame.OpenLog(t.Context(), s.Host(), r, blame.LogOptions{Target: string(id)}, false)
	require.NoError(t, err)
	var seqs []int
	for it, wrong := range l.Each(t.Context()) {
		if err = wrong; err != nil {
			break
		}
		if seqs = append(seqs, it.Event.Seq); len(seqs) == 4 {
			require.Equal(t, []int{199, 198, 197, 196}, seqs)
			require.True(t, l.View.Incomplete(l.View.Newest()))
			require.False(t, l.View.Incomplete(it.Event))
		}
	}
	require.Equal(t, 42, seqs[len(seqs)-1], "the turn of the early event is not whole")
	require.ErrorContains(t, err, "is damaged")
}

func TestComparisons(t *testing.T) {
	s, r, id := worked(t)
	v := view(t, s, r, id)
	compared := func(add func(c *blame.Comparison) error, paths ...string) string {
		c, err := blame.NewComparison(t.Context(), v)
		require.NoError(t, err)
		require.NoError(t, add(c))
		require.NoError(t, c.Find(t.Context(), paths, true))
		require.NoError(t, c.Known(t.Context(), paths))
		var files []string
		for _, f := range c.Files {
			files = append(files, fmt.Sprintf("%s %s +%d -%d %v", f.Status, f.Path, f.Added, f.Deleted, f.Events))
		}
		return strings.Join(files, ", ")
	}
	turn := func(which string) func(c *blame.Comparison) error {
		return func(c *blame.Comparison) error { return c.Turn(context.Background(), which) }
	}
	require.Equal(t, "A poem.txt +2 -0 [5]", compared(turn("1")))
	require.Equal(t, "A new.txt +1 -0 [15], M poem.txt +1 -0 [15]", compared(turn("2")))
	require.Equal(t, "A new.txt +1 -0 [15], A poem.txt +3 -0 [5 15]", compared(turn("all")), "without the line of a person")
	require.Equal(t, "A new.txt +1 -0 [15]", compared(turn("all"), "new.txt"))
	s.Write("new.txt", "changed\n")
	require.Equal(t, "M new.txt +1 -1 []", compared(func(c *blame.Comparison) error { return c.Worktree(t.Context(), nil) }))
	require.Equal(t, "A new.txt +1 -0 [15], M poem.txt +2 -0 [9 15]", compared(func(c *blame.Comparison) error { return c.Worktree(t.Context(), v.Events[5]) }))
	c, err := blame.NewComparison(t.Context(), v)
	require.NoError(t, err)
	for which, want := range map[string]string{"9": "", "x": "a turn's number or all"} {
		require.ErrorContains(t, c.Turn(t.Context(), which), want)
	}
	require.ErrorContains(t, c.Known(t.Context(), []string{"other.txt"}), `has "other.txt"`)
	require.NoError(t, c.Known(t.Context(), []string{".", "README.md"}))
	for n, want := range map[int]int{0: 0, 1: 1, 50: 19, 100: 39} {
		require.Equal(t, want, blame.Scaled(n, 40, 100))
	}
	ground, err := blame.Ground(t.Context(), v)
	require.NoError(t, err)
	require.Equal(t, s.Git("rev-parse", "HEAD^{tree}"), ground)
}
