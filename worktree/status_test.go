package worktree_test

import (
	"io/fs"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"jp/worktree"
)

func TestStatus(t *testing.T) {
	r := newRepo(t, map[string]string{"a": "1\n", "b": "some\nlines\nto\nfollow\n", "c": "1\n"})
	r.git("mv", "b", "moved \xe9")
	r.write("a", "2\n")
	r.git("add", "a")
	r.write("a", "3\n")
	r.write("u/n", "x\n")
	s, err := r.w.Status(t.Context())
	require.NoError(t, err)
	require.Equal(t, r.git("rev-parse", "HEAD"), s.Head)
	require.Equal(t, "main", s.Branch)
	require.Len(t, s.Entries, 3)
	require.Equal(t, worktree.Ordinary, s.Entries[0].Kind)
	require.Equal(t, "MM", string([]byte{s.Entries[0].Index, s.Entries[0].Worktree}))
	require.Equal(t, r.git("rev-parse", "HEAD:a"), s.Entries[0].OIDs[0])
	require.Equal(t, worktree.Moved, s.Entries[1].Kind)
	require.Equal(t, []string{"moved \xe9", "b", "R100"}, []string{s.Entries[1].Path, s.Entries[1].From, s.Entries[1].Score})
	require.Equal(t, worktree.Entry{Kind: worktree.Untracked, Path: "u/n"}, s.Entries[2])
}

func TestParseStatus(t *testing.T) {
	const oid = "1234567890123456789012345678901234567890"
	out := "# branch.oid " + oid + "\x00# branch.head (detached)\x00# branch.upstream origin/x\x00# branch.ab +3 -4\x00# stash 2\x00" +
		"1 .T S.MU 160000 160000 160000 " + oid + " " + oid + " sub mod\x00" +
		"2 C. N... 100644 100644 100644 " + oid + " " + oid + " C75 to\x00from 1 .M\x00" +
		"u UD N... 100644 100644 000000 100644 " + oid + " " + oid + " " + oid + " clash\x00" +
		"? new\nline\x00! ignored/\x00"
	s, err := worktree.ParseStatus([]byte(out))
	require.NoError(t, err)
	require.Equal(t, worktree.Status{Head: oid, Upstream: "origin/x", Ahead: 3, Behind: 4, Entries: []worktree.Entry{
		{Kind: '1', Index: '.', Worktree: 'T', Submodule: "S.MU", Modes: []string{"160000", "160000", "160000"}, OIDs: []string{oid, oid}, Path: "sub mod"},
		{Kind: '2', Index: 'C', Worktree: '.', Submodule: "N...", Modes: []string{"100644", "100644", "100644"}, OIDs: []string{oid, oid}, Score: "C75", Path: "to", From: "from 1 .M"},
		{Kind: 'u', Index: 'U', Worktree: 'D', Submodule: "N...", Modes: []string{"100644", "100644", "000000", "100644"}, OIDs: []string{oid, oid, oid}, Path: "clash"},
		{Kind: '?', Path: "new\nline"},
		{Kind: '!', Path: "ignored/"},
	}}, s)

	for _, bad := range []string{"1 .M N...\x00", "x y\x00", "? cut", "\x00", "2 R. N... 1 2 3 a b R1 to\x00", "1\x00"} {
		_, err := worktree.ParseStatus([]byte(bad))
		require.ErrorIs(t, err, worktree.ErrMalformed, "%q", bad)
	}
}

func FuzzParseStatus(f *testing.F) {
	f.Add([]byte("# branch.oid (initial)\x00? a\x00"))
	f.Add([]byte("2 R. N... 100644 100644 100644 a b R100 to\x00from\x00"))
	f.Add([]byte("u UU N... 1 2 3 4 a b c p\x001 .M N... 1 2 3 a b p\x00"))
	f.Fuzz(func(t *testing.T, out []byte) {
		s, err := worktree.ParseStatus(out)
		if err != nil {
			require.ErrorIs(t, err, worktree.ErrMalformed)
			return
		}
		for _, e := range s.Entries {
			require.NotEmpty(t, e.Path)
			require.Equal(t, e.Kind == worktree.Moved, e.From != "")
		}
	})
}

func TestState(t *testing.T) {
	r := newRepo(t, map[string]string{"a": "1\n"})
	head := r.git("rev-parse", "HEAD")
	state := func() worktree.State {
		t.Helper()
		s, err := r.w.State(t.Context())
		require.NoError(t, err)
		return s
	}
	require.Equal(t, worktree.State{Head: head, Branch: "main"}, state())
	r.git("pack-refs", "--all")
	require.Equal(t, worktree.State{Head: head, Branch: "main"}, state())
	r.git("switch", "-q", "-c", "topic/x")
	require.Equal(t, worktree.State{Head: head, Branch: "topic/x"}, state())
	r.git("symbolic-ref", "refs/heads/alias", "refs/heads/main")
	r.git("symbolic-ref", "HEAD", "refs/heads/alias")
	require.Equal(t, worktree.State{Head: head, Branch: "alias"}, state())
	r.git("branch", "fresher")
	r.git("tag", "-a", "-m", "a tag", "fresh")
	r.git("pack-refs", "--all")
	r.git("switch", "-q", "--orphan", "fresh")
	require.Equal(t, worktree.State{Branch: "fresh"}, state())
	r.git("symbolic-ref", "HEAD", "refs/heads/fresher")
	require.Equal(t, worktree.State{Head: head, Branch: "fresher"}, state())
	packed, err := os.ReadFile(r.path(".git/packed-refs"))
	require.NoError(t, err)
	_, unsorted, _ := strings.Cut(string(packed), "\n")
	r.write(".git/packed-refs", unsorted+strings.ToUpper(head)+" refs/heads/odd\n")
	r.git("symbolic-ref", "HEAD", "refs/heads/odd")
	require.Equal(t, worktree.State{Head: r.git("rev-parse", "HEAD"), Branch: "odd"}, state(), "git reads what it does not write")
	r.write(".git/packed-refs", string(packed))
	r.write(".git/refs/heads/linked", head+"\n")
	require.NoError(t, os.Symlink("refs/heads/linked", r.path(".git/refs/heads/link")))
	r.git("symbolic-ref", "HEAD", "refs/heads/link")
	require.Equal(t, worktree.State{Head: head, Branch: "link"}, state(), "a ref of a ref, as git once wrote it")
	r.git("symbolic-ref", "HEAD", "refs/heads/topic") // a folder
	require.Equal(t, worktree.State{Branch: "topic"}, state())
	r.git("switch", "-q", "--detach", "main")
	r.git("bisect", "start")
	require.Equal(t, worktree.State{Head: head, InProgress: "bisect"}, state())
}

// objects are some that a store has. git has the others.
type objects map[string]worktree.Object

func (o objects) ReadObject(oid string) (string, []byte, error) {
	if found, ok := o[oid]; ok {
		return found.Kind, found.Data, nil
	}
	return "", nil, fs.ErrNotExist
}

func TestCommitTree(t *testing.T) {
	r := newRepo(t, map[string]string{"a": "1\n"})
	head, want := r.git("rev-parse", "HEAD"), r.git("rev-parse", "HEAD^{tree}")
	r.git("tag", "-a", "-m", "a tag", "v1")
	tag := r.git("rev-parse", "v1")
	other := strings.Repeat("1", len(head))
	for name, c := range map[string]struct {
		commit string
		from   worktree.ObjectReader
		want   string
	}{
		"by git":                  {head, nil, want},
		"in process":              {head, reader{r.dir}, want},
		"what the store has":      {other, objects{other: {Kind: "commit", Data: []byte("tree " + want + "\nparent x\n")}}, want},
		"what it has not":         {head, objects{}, want},
		"a tag":                   {tag, reader{r.dir}, want},
		"a commit without tree":   {head, objects{head: {Kind: "commit", Data: []byte("parent " + want + "\n")}}, want},
		"a tree that is none":     {head, objects{head: {Kind: "commit", Data: []byte("tree ../../x\n")}}, want},
		"a blob that looks as if": {head, objects{head: {Kind: "blob", Data: []byte("tree " + other + "\n")}}, want},
		"nothing was committed":   {"", objects{}, r.w.Repository().ObjectFormat.EmptyTree()},
	} {
		got, err := r.w.CommitTree(t.Context(), c.commit, c.from)
		require.NoError(t, err, name)
		require.Equal(t, c.want, got, name)
	}
	_, err := r.w.CommitTree(t.Context(), other, objects{})
	require.ErrorContains(t, err, "read the tree of "+other)
}

func TestStateOfLinkedWorktree(t *testing.T) {
	r := newRepo(t, nil)
	linked := &repo{t: t, dir: t.TempDir() + "/side"}
	r.git("worktree", "add", "-q", "-b", "side", linked.dir)
	linked.open(worktree.Options{})
	s, err := linked.w.State(t.Context())
	require.NoError(t, err)
	require.Equal(t, worktree.State{Head: r.git("rev-parse", "HEAD"), Branch: "side", Worktree: "side"}, s)
}

func TestInProgress(t *testing.T) {
	for name, args := range map[string][]string{
		"merge": {"merge", "other"}, "rebase": {"rebase", "other"}, "cherry-pick": {"cherry-pick", "other"}, "revert": {"revert", "--no-edit", "HEAD~"},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRepo(t, map[string]string{"a": "1\n"})
			r.git("switch", "-qc", "other")
			r.write("a", "2\n")
			r.git("commit", "-qam", "2")
			r.git("switch", "-q", "main")
			r.write("a", "3\n")
			r.git("commit", "-qam", "3")
			r.write("a", "4\n")
			r.git("commit", "-qam", "4")
			cmd := exec.Command("git", args...)
			cmd.Dir = r.dir
			require.Error(t, cmd.Run(), "it stops at a conflict")
			s, err := r.w.State(t.Context())
			require.NoError(t, err)
			require.Equal(t, name, s.InProgress)
		})
	}
}
