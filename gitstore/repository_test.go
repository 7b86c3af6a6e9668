package gitstore_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"jp/conversation"
	"jp/gitcmd"
	"jp/gitstore"
	"jp/gitstore/odb"
	"jp/internal/testing/gitenv"
	"jp/internal/testing/journaltest"
)

// at is a store of the repository that a folder belongs to.
func at(t testing.TB, dir string) *fixture {
	t.Helper()
	return &fixture{Store: openStore(t, dir, gitstore.Options{Durability: odb.Off}), t: t, dir: dir}
}

// grows asserts that a conversation can be started, gone on with and read.
func (f *fixture) grows(n int) conversation.Head {
	f.t.Helper()
	s := journaltest.NewScript(f.t).Turn("first").Says("answer")
	head := f.create(n, s.Events())
	s.Turn("second").Says("answer")
	head, err := f.again().Append(f.t.Context(), journaltest.ID(n), head, s.Events()[3:])
	require.NoError(f.t, err)
	got, err := f.again().load(n)
	require.NoError(f.t, err)
	require.Equal(f.t, commits(s.Events()), commits(got))
	f.verified(n)
	fsck(f.t, f.dir)
	return head
}

func TestKindsOfRepository(t *testing.T) {
	kinds := map[string]func(t *testing.T, dir string) string{
		"linked worktree": func(t *testing.T, dir string) string {
			linked := filepath.Join(t.TempDir(), "linked")
			gitenv.Git(t, dir, "worktree", "add", "-q", "--detach", linked)
			return linked
		},
		"worktree configuration and sparse checkout": func(t *testing.T, dir string) string {
			gitenv.Git(t, dir, "config", "extensions.worktreeConfig", "true")
			gitenv.Git(t, dir, "sparse-checkout", "set", "nothing")
			return dir
		},
		"alternates": func(t *testing.T, dir string) string {
			clone := filepath.Join(t.TempDir(), "clone")
			gitenv.Git(t, dir, "clone", "-q", "--shared", dir, clone)
			return clone
		},
		"bare": func(t *testing.T, dir string) string {
			clone := filepath.Join(t.TempDir(), "bare")
			gitenv.Git(t, dir, "clone", "-q", "--bare", dir, clone)
			return clone
		},
		"sub-folder": func(t *testing.T, dir string) string {
			sub := filepath.Join(dir, "a", "b")
			require.NoError(t, os.MkdirAll(sub, 0o755))
			return sub
		},
		"submodule": func(t *testing.T, dir string) string {
			gitenv.Git(t, dir, "submodule", "add", "-q", gitenv.Repo(t), "sub")
			return filepath.Join(dir, "sub")
		},
		"unborn HEAD": func(t *testing.T, _ string) string {
			empty := t.TempDir()
			gitenv.Git(t, empty, "init", "-q")
			return empty
		},
		"reflogs for everything": func(t *testing.T, dir string) string {
			gitenv.Git(t, dir, "config", "core.logAllRefUpdates", "always")
			return dir
		},
	}
	for name, kind := range kinds {
		t.Run(name, func(t *testing.T) { at(t, kind(t, gitenv.Repo(t))).grows(1) })
	}
}

func TestWorktreesShareConversations(t *testing.T) {
	f := newFixture(t)
	linked := filepath.Join(t.TempDir(), "linked")
	f.git("worktree", "add", "-q", "--detach", linked)
	head := at(t, linked).grows(1)
	got, err := f.Head(t.Context(), journaltest.ID(1))
	require.NoError(t, err)
	require.Equal(t, head, got)
	f.git("worktree", "remove", linked)
	f.verified(1)
}

func TestUnsupportedRepositoriesAreRefused(t *testing.T) {
	sha512 := t.TempDir()
	gitenv.Git(t, sha512, "init", "-q", "--object-format=sha256")
	gitenv.Git(t, sha512, "config", "extensions.objectFormat", "sha512")
	reftable := gitenv.Repo(t)
	gitenv.Git(t, reftable, "config", "core.repositoryFormatVersion", "1")
	gitenv.Git(t, reftable, "config", "extensions.refStorage", "reftable")
	for dir, want := range map[string]error{sha512: gitcmd.ErrObjectFormat, reftable: gitcmd.ErrRefFormat} {
		_, err := gitcmd.Locate(t.Context(), dir, gitcmd.Options{})
		require.ErrorIs(t, err, want)
		require.NotContains(t, err.Error(), "\n")
	}
}

func TestPackedRefsBetweenAppends(t *testing.T) {
	f := newFixture(t)
	s := journaltest.NewScript(t).Turn("first").Says("answer")
	head := f.create(1, s.Events())
	for range 5 {
		f.git("pack-refs", "--all", "--prune")
		n := s.Stream.Len()
		s.Turn("more").Says("answer")
		var err error
		head, err = f.Append(t.Context(), journaltest.ID(1), head, s.Events()[n:])
		require.NoError(t, err)
		require.Equal(t, string(head), f.git("rev-parse", refs+string(journaltest.ID(1))))
	}
	f.git("repack", "-adq")
	f.git("prune-packed")
	f.verified(1)
	got, err := f.again().load(1)
	require.NoError(t, err)
	require.Equal(t, commits(s.Events()), commits(got))
}

// A chain that was fetched in part is undamaged. Its error names the missing part.
func TestShallowChain(t *testing.T) {
	f := newFixture(t)
	head := f.create(1, say("zero", "one", "two", "three"))
	dir := gitenv.Repo(t)
	early := at(t, dir)
	ref := refs + string(journaltest.ID(1))
	gitenv.Git(t, dir, "fetch", "-q", "--depth=2", "file://"+f.dir, ref+":"+ref)
	for name, s := range map[string]*fixture{"opened before": early, "opened after": at(t, dir)} {
		_, err := s.load(1)
		require.ErrorIs(t, err, gitstore.ErrShallow, name)
		require.NotErrorIs(t, err, conversation.ErrDamaged)
		_, err = s.Verify(t.Context(), journaltest.ID(1))
		require.ErrorIs(t, err, gitstore.ErrShallow)
		info, err := s.Info(t.Context(), journaltest.ID(1))
		require.NoError(t, err, "the tip says what the whole is")
		require.Equal(t, 4, info.Summary.Events)

		seqs := []int{}
		for e, err := range s.Backward(t.Context(), head) {
			if err != nil {
				require.ErrorIs(t, err, gitstore.ErrShallow)
				break
			}
			seqs = append(seqs, e.Seq)
		}
		require.Equal(t, []int{3, 2}, seqs, "what is here can be read")
	}
	stranger := openStore(t, dir, gitstore.Options{Key: []byte("another key, of thirty-two bytes")})
	infos, err := stranger.List(t.Context(), conversation.ScopeLive)
	require.NoError(t, err)
	require.ErrorIs(t, infos[0].Err, gitstore.ErrShallow)

	gitenv.Git(t, dir, "fetch", "-q", "--deepen=10", "file://"+f.dir, ref)
	got, err := at(t, dir).load(1)
	require.NoError(t, err)
	require.Len(t, got, 4)
}

func TestPartialClone(t *testing.T) {
	f := newFixture(t)
	f.create(1, []*conversation.Event{say("x")[0], bigEvent(1, strings.Repeat("x\n", 50_000))})
	f.git("config", "uploadpack.allowFilter", "true")
	dir := filepath.Join(t.TempDir(), "partial")
	gitenv.Git(t, f.dir, "clone", "-q", "--no-checkout", "--filter=blob:none", "--config", "remote.origin.fetch=refs/jp/*:refs/jp/*", "file://"+f.dir, dir)
	s := at(t, dir)
	got, err := s.load(1)
	require.NoError(t, err)
	_, ok, err := s.Payload(t.Context(), got[1].Payloads[0])
	require.NoError(t, err)
	require.False(t, ok, "what the clone left out is absent, and is not fetched")
	s.verified(1)
	s.grows(2)
}

// HEAD is only an oid: it may be an event of another conversation.
func TestHeadIsAnEvent(t *testing.T) {
	f := newFixture(t)
	head := f.create(1, journaltest.Turn(t, "first", "answer"))
	f.git("checkout", "-q", "--detach", string(head))
	events := journaltest.Turn(t, "another", "answer")
	_, err := f.Create(t.Context(), journaltest.ID(2), f.git("rev-parse", "HEAD"), events)
	require.NoError(t, err)
	got, err := f.again().load(2)
	require.NoError(t, err)
	require.Equal(t, commits(events), commits(got))
	require.Equal(t, "3", f.git("rev-list", "--count", string(head)+".."+refs+string(journaltest.ID(2))))
	f.verified(2)
}

func TestBaseOfAConversation(t *testing.T) {
	f := newFixture(t)
	base := f.git("rev-parse", "HEAD")
	_, err := f.Create(t.Context(), journaltest.ID(1), base, journaltest.Turn(t, "first", "answer"))
	require.NoError(t, err)
	ref := refs + string(journaltest.ID(1))
	require.Equal(t, base, f.git("merge-base", "main", ref))
	require.Equal(t, f.git("rev-parse", "HEAD^{tree}"), f.git("rev-parse", ref+"^{tree}"))
	f.create(2, journaltest.Turn(t, "first", "answer"))
	require.Equal(t, "3", f.git("rev-list", "--count", refs+string(journaltest.ID(2))))

	// A commit that git would not make today can still be a parent.
	odd := f.put("commit", []byte("tree "+f.git("rev-parse", "HEAD^{tree}")+"\nauthor nobody\ncommitter <> \n\nold"))
	_, err = f.Create(t.Context(), journaltest.ID(3), odd, journaltest.Turn(t, "first", "answer"))
	require.NoError(t, err)
	f.verified(3)
}
