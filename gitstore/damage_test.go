package gitstore_test

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"jp/conversation"
	"jp/gitstore"
	"jp/internal/testing/gitenv"
	"jp/internal/testing/journaltest"
)

// requireDamage asserts that a load names the commit and returns the events below.
func requireDamage(t *testing.T, err error, commit string, good int) *gitstore.DamageError {
	t.Helper()
	var damage *gitstore.DamageError
	require.ErrorAs(t, err, &damage)
	require.ErrorIs(t, err, conversation.ErrDamaged)
	require.Equal(t, commit, damage.Commit)
	require.Equal(t, good, damage.Good)
	return damage
}

var dataLine = regexp.MustCompile(`\njp-data [^\n]*`)

// Any change of the newest commit is damage, and the events below it are still read.
func TestDamagedCommits(t *testing.T) {
	replace := func(old, new string) func(string) string {
		return func(c string) string {
			require.Contains(t, c, old)
			return strings.Replace(c, old, new, 1)
		}
	}
	deep := strings.Repeat("[", 1000) + strings.Repeat("]", 1000)
	tests := []struct {
		name string
		edit func(string) string
		seq  int // that is told
	}{
		{"not JSON", replace(`"turn":1`, `"turn":`), -1},
		{"deep JSON", replace(`"turn":1`, `"turn":1,"x":`+deep), -1},
		{"duplicate key", replace(`"turn":1`, `"turn":1,"turn":1`), -1},
		{"lone surrogate", replace(`"turn":1`, `"turn":1,"x":"\ud800"`), -1},
		{"no seq below zero", replace(`"seq":2`, `"seq":-2`), -1},
		{"duplicate header", func(c string) string { return dataLine.ReplaceAllString(c, "$0$0") }, -1},
		{"empty header", func(c string) string { return dataLine.ReplaceAllString(c, "\njp-data ") }, -1},
		{"header without value", func(c string) string { return dataLine.ReplaceAllString(c, "\njp-data") }, -1},
		{"header of two lines", func(c string) string { return dataLine.ReplaceAllString(c, "$0\n more") }, -1},
		{"two trees", replace("\nauthor", "\ntree 4b825dc642cb6eb9a060e54bf8d69288fbee4904\nauthor"), -1},
		{"late parent", replace("\njp-data", "\nparent 4b825dc642cb6eb9a060e54bf8d69288fbee4904\njp-data"), -1},
		{"two authors", replace("\ncommitter", "\nauthor x <x> 1 +0000\ncommitter"), -1},
		{"span behind the end", replace(`"text":[`, `"text":[9`), 2},
		{"span negative", replace(`"text":[`, `"text":[-`), -1},
		{"span too short", replace(`"text":[11,6]`, `"text":[11,5]`), 2},
		{"span gone", replace(`,"text":[11,6]`, ``), 2},
		{"span where no text is", replace(`"chat_response"`, `"turn_done"`), 2},
		{"message changed", replace("assistant: answer", "assistant: Answers"), 2},
		{"message with NUL", replace("assistant: answer", "assistant: ans\x00er"), 2},
		{"message not UTF-8", replace("assistant: answer", "assistant: ans\xffer"), 2},
		{"text added", replace("\n\nJp-Event", "\n\nmore\n\nJp-Event"), 2},
		{"other trailer", replace("Jp-Seq: 2", "Jp-Seq: 3"), 2},
		{"text behind the trailers", func(c string) string { return c + "x\n" }, 2},
		{"provider is not JSON", replace("\njp-data", "\njp-provider {]\njp-data"), 2},
		{"provider too large", replace("\njp-data", "\njp-provider \""+strings.Repeat("x", 16<<10)+"\"\njp-data"), -1},
		{"state too large", replace("\njp-state {", "\njp-state {"+strings.Repeat(" ", 16<<10)), -1},
		{"no author's time", replace("> 17529", "> x17529"), -1},
	}
	f := newFixture(t)
	for i, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			f := &fixture{Store: f.Store, t: t, dir: f.dir}
			events := journaltest.Turn(t, "first", "answer")
			f.create(i, events)
			head := f.rewrite(i, tt.edit)
			got, err := f.load(i)
			damage := requireDamage(t, err, string(head), 2)
			require.Equal(t, tt.seq, damage.Seq)
			require.Equal(t, commits(events[:2]), commits(got))

			v, err := f.Verify(t.Context(), journaltest.ID(i))
			require.NoError(t, err)
			require.Equal(t, string(head), v.Problems[0].Commit)
			_, err = f.Append(t.Context(), journaltest.ID(i), head, say("x", "x", "x", "x")[3:])
			require.ErrorIs(t, err, conversation.ErrDamaged)
			for _, err := range f.Backward(t.Context(), head) {
				require.ErrorIs(t, err, conversation.ErrDamaged)
			}
		})
	}
}

func TestOtherProgramsCommits(t *testing.T) {
	f := newFixture(t)
	events := journaltest.Turn(t, "first", "answer")
	head := f.create(1, events)
	on := func(args ...string) string {
		return f.git(append([]string{"commit-tree", "-m", "mine", events[2].Tree}, args...)...)
	}
	set := func(oid string) string {
		f.git("update-ref", refs+string(journaltest.ID(1)), oid)
		return oid
	}

	plain := set(on("-p", string(head)))
	got, err := f.load(1)
	damage := requireDamage(t, err, plain, 3)
	require.NotErrorIs(t, damage, gitstore.ErrStripped)
	require.Equal(t, commits(events), commits(got))

	merge := set(f.put("commit", []byte(strings.Replace(string(f.raw(events[2].Commit)), "\nauthor", "\nparent "+plain+"\nauthor", 1))))
	_, err = f.load(1)
	require.Equal(t, 2, requireDamage(t, err, merge, 2).Seq)

	f.git("checkout", "-q", "--detach", events[2].Commit)
	f.git("commit", "-q", "--allow-empty", "--amend", "-m", "my own fix")
	require.Contains(t, string(f.raw("HEAD")), "\njp-data", "git keeps the header")
	amended := set(f.git("rev-parse", "HEAD"))
	_, err = f.load(1)
	require.Equal(t, 2, requireDamage(t, err, amended, 2).Seq)
}

func TestStrippedChain(t *testing.T) {
	t.Setenv("FILTER_BRANCH_SQUELCH_WARNING", "1")
	f := newFixture(t)
	head, err := f.Create(t.Context(), journaltest.ID(1), f.git("rev-parse", "HEAD"), journaltest.Turn(t, "first", "answer"))
	require.NoError(t, err)
	f.git("update-ref", "refs/heads/copy", string(head))
	f.git("filter-branch", "-f", "--msg-filter", "cat", "copy")
	oid := f.git("rev-parse", "copy")
	require.NotEqual(t, string(head), oid)
	f.git("update-ref", refs+string(journaltest.ID(1)), oid)
	got, err := f.load(1)
	require.ErrorIs(t, err, gitstore.ErrStripped)
	requireDamage(t, err, f.git("rev-parse", "copy~2"), 0)
	require.Empty(t, got)
}

// Damage of the first event has its own error, although the user's history lies below.
func TestDamagedFirstEvent(t *testing.T) {
	f := newFixture(t)
	other := f.create(2, journaltest.Turn(t, "another", "conversation"))
	for _, base := range []string{"", f.git("rev-parse", "HEAD"), string(other)} {
		events := journaltest.Turn(t, "first", "answer")
		head, err := f.Create(t.Context(), journaltest.ID(1), base, events)
		require.NoError(t, err)
		broken := f.put("commit", []byte(strings.Replace(string(f.raw(events[0].Commit)), `"turn":1`, `"turn":`, 1)))
		for _, e := range events[1:] {
			next := strings.Replace(string(f.raw(e.Commit)), "\nparent "+f.git("rev-parse", e.Commit+"^"), "\nparent "+broken, 1)
			if e.Seq > 1 {
				next = strings.Replace(string(f.raw(e.Commit)), "\nparent "+events[1].Commit, "\nparent "+string(head), 1)
			}
			head = conversation.Head(f.put("commit", []byte(next)))
		}
		f.git("update-ref", refs+string(journaltest.ID(1)), string(head))
		got, err := f.load(1)
		requireDamage(t, err, broken, 0)
		require.Empty(t, got)
		require.NoError(t, f.Delete(t.Context(), journaltest.ID(1), head))
	}
}

func TestGapInTheChain(t *testing.T) {
	f := newFixture(t)
	events := say("zero", "one", "two", "three", "four")
	f.create(1, events)
	three := f.put("commit", []byte(strings.Replace(string(f.raw(events[3].Commit)), events[2].Commit, events[1].Commit, 1)))
	four := f.put("commit", []byte(strings.Replace(string(f.raw(events[4].Commit)), events[3].Commit, three, 1)))
	f.git("update-ref", refs+string(journaltest.ID(1)), four)
	got, err := f.load(1)
	require.Equal(t, 3, requireDamage(t, err, three, 2).Seq)
	require.Equal(t, commits(events[:2]), commits(got))

	root := f.put("commit", []byte(strings.Replace(string(f.raw(events[1].Commit)), "parent "+events[0].Commit+"\n", "", 1)))
	_, err = f.Load(t.Context(), conversation.Head(root))
	require.Equal(t, 1, requireDamage(t, err, root, 0).Seq)
}

func TestRefsToOtherThings(t *testing.T) {
	f := newFixture(t)
	f.create(0, journaltest.Turn(t, "whole", "one"))
	f.git("tag", "-a", "-m", "x", "v1")
	objects := map[string]string{
		"blob": f.put("blob", []byte("x")), "tree": f.git("rev-parse", "HEAD^{tree}"), "tag": f.git("rev-parse", "v1"),
		"commit": f.git("rev-parse", "HEAD"), "missing": "0123456789abcdef0123456789abcdef01234567", "not a ref": "", "symbolic": "ref: refs/heads/main",
	}
	n := 0
	for name, oid := range objects {
		n++
		id := journaltest.ID(n)
		require.NoError(t, os.WriteFile(filepath.Join(f.dir, ".git", refs+string(id)), []byte(oid+"\n"), 0o644))
		_, err := f.Info(t.Context(), id)
		require.ErrorIs(t, err, conversation.ErrDamaged, name)
		v, err := f.Verify(t.Context(), id)
		require.True(t, err != nil || !v.OK(), name)
	}
	require.NoError(t, os.WriteFile(filepath.Join(f.dir, ".git", refs+string(journaltest.ID(99))), nil, 0o644))

	infos, err := f.List(t.Context(), conversation.ScopeLive)
	require.NoError(t, err)
	require.Len(t, infos, len(objects)+2, "one that cannot be read hides no other")
	for _, info := range infos {
		if info.ID == journaltest.ID(0) {
			require.NoError(t, info.Err)
		} else {
			require.ErrorIs(t, info.Err, conversation.ErrDamaged, info.Ref)
		}
	}
}

// A ref to the user's own history is no reason to read all of it.
func TestForeignHistoryIsNotWalked(t *testing.T) {
	f := newFixture(t)
	head := f.git("rev-parse", "HEAD")
	for i := range 150 {
		head = f.git("commit-tree", "-p", head, "-m", fmt.Sprint(i), "HEAD^{tree}")
	}
	require.NoError(t, os.RemoveAll(filepath.Join(f.dir, ".git", "refs", "heads")))
	first := f.git("rev-list", "--max-parents=0", head)
	require.NoError(t, os.Remove(filepath.Join(f.dir, ".git", "objects", first[:2], first[2:])))
	_, err := f.Load(t.Context(), conversation.Head(head))
	requireDamage(t, err, head, 0)
}

func TestOddRefsAreIgnored(t *testing.T) {
	f := newFixture(t)
	head := string(f.create(1, journaltest.Turn(t, "hello", "hi")))
	id := string(journaltest.ID(2))
	for _, name := range []string{
		"conversations/notes", "conversations/sub/" + id, "conversations/" + strings.ToUpper(id), "conversations/" + id + "x",
		"archive/jp-c1", "archive/sub/" + id, "remotes/" + id[:9], "remotes/o/notes", "other/" + id, "notes", "conversations/-" + id,
	} {
		f.git("update-ref", "refs/jp/"+name, head)
	}
	f.git("update-ref", "refs/jp/remotes/team/fork/"+id, head)
	for scope, want := range map[conversation.Scope]string{
		conversation.ScopeLive: "[" + refs + string(journaltest.ID(1)) + "]", conversation.ScopeArchived: "[]",
		conversation.ScopeRemotes: "[refs/jp/remotes/team/fork/" + id + "]",
	} {
		infos, err := f.List(t.Context(), scope)
		require.NoError(t, err)
		got := []string{}
		for _, info := range infos {
			require.NoError(t, info.Err)
			got = append(got, info.Ref)
		}
		require.Equal(t, want, fmt.Sprint(got))
	}
	_, err := f.Create(t.Context(), journaltest.ID(2), "", journaltest.Turn(t, "x", "y"))
	require.ErrorIs(t, err, conversation.ErrExists, "a remote has it")
}

// Only a valid id reaches a ref.
func TestHostileConversationIDs(t *testing.T) {
	f := newFixture(t)
	for _, id := range []conversation.ID{"", "..", "../heads/main", "jp-c17528832001-k3f9.lock", "jp-c17528832001-k3f9/..", "JP-C17528832001-k3f9", "-d", "jp-c17528832001-@{", "jp-c17528832001\n"} {
		_, err := f.Create(t.Context(), id, "", journaltest.Turn(t, "x", "y"))
		require.ErrorIs(t, err, conversation.ErrBadID)
		_, err = f.Head(t.Context(), id)
		require.ErrorIs(t, err, conversation.ErrBadID)
		_, err = f.Archive(t.Context(), id, "", say("x")[0], true)
		require.Error(t, err)
		require.Error(t, f.Delete(t.Context(), id, ""))
	}
	require.Equal(t, "refs/heads/main", gitenv.Git(t, f.dir, "for-each-ref", "--format=%(refname)"))
}

// Events of a newer jp are readable, and the conversation is read-only.
func TestNewerEvents(t *testing.T) {
	f := newFixture(t)
	for i, edit := range []func(string) string{
		func(c string) string { return strings.Replace(c, `"v":1`, `"v":2`, 1) },
		func(c string) string { return strings.Replace(c, `"seq":2`, `"needs":["time travel"],"seq":2`, 1) },
		func(c string) string {
			return strings.Replace(strings.Replace(c, `"v":1`, `"v":2`, 1), "\n\nJp-Event", "\n\nanother layout", 1)
		},
	} {
		events := journaltest.Turn(t, "first", "answer")
		f.create(i, events)
		head := f.rewrite(i, edit)
		got, err := f.load(i)
		require.NoError(t, err)
		require.Len(t, got, 3)
		require.True(t, got[2].Opaque())
		require.Equal(t, "assistant: answer", got[2].Subject)
		next := say("x", "x", "x", "x")[3:]
		_, err = f.Append(t.Context(), journaltest.ID(i), head, next)
		require.ErrorIs(t, err, conversation.ErrNewer)
		_, err = f.Archive(t.Context(), journaltest.ID(i), head, next[0], true)
		require.ErrorIs(t, err, conversation.ErrNewer)
		_, err = f.Fork(t.Context(), journaltest.ID(i), head, journaltest.ID(100+i), next[0])
		require.ErrorIs(t, err, conversation.ErrNewer)
	}
}

// TestCreateBesideDamagedPackedRefs expects an error about the damage, instead of one about a taken id.
func TestCreateBesideDamagedPackedRefs(t *testing.T) {
	f := newFixture(t)
	f.create(1, turns(t, "one"))
	path := filepath.Join(f.dir, ".git/packed-refs")
	require.NoError(t, os.WriteFile(path, []byte("# pack-refs with: peeled fully-peeled sorted \nrubbish\n"), 0o666))
	_, err := f.Create(t.Context(), journaltest.ID(2), "", turns(t, "two"))
	require.ErrorIs(t, err, conversation.ErrDamaged)
	require.NotErrorIs(t, err, conversation.ErrExists)
	require.ErrorContains(t, err, "packed-refs")
	require.ErrorContains(t, err, "rubbish")
	if gitenv.RefsThroughGit() {
		return // git reads packed-refs for any ref
	}
	require.Equal(t, []int{1}, f.sifted(f.info(1), false, "one"), "a loose ref needs no packed ones")
}

// The newest event may be gone for a moment, if a prune took it and its writer writes it again. The store
// waits for it only at a ref that moved a short while ago.
func TestAHeadThatIsWrittenAgain(t *testing.T) {
	f := newFixture(t)
	head := string(f.create(1, long(3)))
	path := filepath.Join(f.dir, ".git/objects", head[:2], head[2:])
	require.NoError(t, os.Rename(path, path+".pruned"))
	again := f.again()
	again.WaitForHeads(time.Minute)
	go func() {
		// So that it is most often looked for in vain first; any other order is fine, too.
		time.Sleep(50 * time.Millisecond)
		os.Rename(path+".pruned", path)
	}()
	_, err := again.Load(t.Context(), conversation.Head(head))
	require.NoError(t, err)

	require.NoError(t, os.Remove(path))
	ref := filepath.Join(f.dir, ".git", gitstore.RefOf(journaltest.ID(1)))
	old := time.Now().Add(-time.Hour)
	require.NoError(t, os.Chtimes(ref, old, old))
	again = f.again()
	again.WaitForHeads(time.Hour) // it does not come back
	_, err = again.Load(t.Context(), conversation.Head(head))
	require.ErrorIs(t, err, conversation.ErrDamaged)
}
