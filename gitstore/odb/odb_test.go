package odb_test

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"jp/gitcmd"
	"jp/gitstore/odb"
	"jp/internal/testing/gitenv"
)

const ref = "refs/jp/conversations/jp-c1"

// testFormat is the format of the repositories of these tests.
var testFormat = gitcmd.ObjectFormat(gitenv.ObjectFormat())

var bg = context.Background()

// environ is the whole environment of every git in these tests.
func environ() []string {
	return []string{
		"PATH=" + os.Getenv("PATH"), "HOME=/nonexistent", "TZ=UTC", "LC_ALL=C",
		"GIT_CONFIG_NOSYSTEM=1", "GIT_DEFAULT_HASH=" + string(testFormat), "GIT_CONFIG_GLOBAL=/dev/null",
		"GIT_AUTHOR_NAME=A", "GIT_AUTHOR_EMAIL=a@example.invalid", "GIT_AUTHOR_DATE=1700000000 +0000",
		"GIT_COMMITTER_NAME=A", "GIT_COMMITTER_EMAIL=a@example.invalid", "GIT_COMMITTER_DATE=1700000000 +0000",
	}
}

// tryGit runs git in dir and gives its output, standard error included.
func tryGit(dir string, stdin string, args ...string) (string, error) {
	cmd := exec.Command("git", args...)
	cmd.Dir, cmd.Env, cmd.Stdin = dir, environ(), strings.NewReader(stdin)
	out, err := cmd.CombinedOutput()
	if err != nil {
		err = fmt.Errorf("git %s: %w: %s", args[0], err, out)
	}
	return strings.TrimSpace(string(out)), err
}

func git(t testing.TB, dir string, args ...string) string {
	t.Helper()
	out, err := tryGit(dir, "", args...)
	require.NoError(t, err)
	return out
}

// newRepo makes a repository with a working tree.
func newRepo(t testing.TB) string {
	t.Helper()
	dir := t.TempDir()
	git(t, dir, "init", "-q", "-b", "main")
	return dir
}

// requireSound lets git check everything that the refs reach.
func requireSound(t testing.TB, repo string) {
	t.Helper()
	for line := range strings.Lines(git(t, repo, "fsck", "--strict", "--no-dangling")) {
		require.True(t, strings.HasPrefix(line, "notice:"), line)
	}
}

func open(t testing.TB, repo string, opts odb.Options) *odb.Store {
	t.Helper()
	opts.Format = testFormat
	s, err := odb.Open(filepath.Join(repo, ".git"), opts)
	require.NoError(t, err)
	t.Cleanup(func() { s.Close() })
	return s
}

// withGit is the options with a git program that the tests' host cannot change.
func withGit(repo string) odb.Options {
	return odb.Options{Format: testFormat, Git: gitcmd.New(repo, gitcmd.Options{Environ: environ()})}
}

func object(kind string, data []byte) odb.Object {
	return odb.Object{Kind: kind, OID: odb.HashObject(testFormat, kind, data), Data: data}
}

func blob(text string) odb.Object { return object("blob", []byte(text)) }

var emptyTree = object("tree", nil)

// commit is an event-like commit on the empty tree.
func commit(parent odb.OID, text string) odb.Object {
	var b bytes.Buffer
	fmt.Fprintf(&b, "tree %s\n", emptyTree.OID)
	if parent != "" {
		fmt.Fprintf(&b, "parent %s\n", parent)
	}
	fmt.Fprintf(&b, "author A <a@example.invalid> 1700000000 +0000\n")
	fmt.Fprintf(&b, "committer A <a@example.invalid> 1700000000 +0000\n\n%s\n", text)
	return object("commit", b.Bytes())
}

// chain is n commits on top of parent.
func chain(parent odb.OID, n int, text string) []odb.Object {
	out := make([]odb.Object, n)
	for i := range out {
		out[i] = commit(parent, fmt.Sprintf("%s %d", text, i))
		parent = out[i].OID
	}
	return out
}

func tip(objects []odb.Object) odb.OID { return objects[len(objects)-1].OID }

// create makes a conversation of n commits.
func create(t testing.TB, s *odb.Store, name string, n int) []odb.Object {
	t.Helper()
	objects := append([]odb.Object{emptyTree}, chain("", n, name)...)
	require.NoError(t, s.Write(t.Context(), odb.Batch{
		Objects: objects,
		Updates: []odb.RefUpdate{{Ref: name, New: tip(objects)}},
	}))
	return objects
}

// eachPath runs a test on both write paths.
func eachPath(t *testing.T, run func(t *testing.T, path odb.Path)) {
	for _, path := range []odb.Path{odb.PathOrdered, odb.PathStepwise} {
		t.Run(string(path), func(t *testing.T) { run(t, path) })
	}
}

func TestGitReadsWhatWeWrite(t *testing.T) {
	eachPath(t, func(t *testing.T, path odb.Path) {
		repo := newRepo(t)
		s := open(t, repo, odb.Options{Format: testFormat, Path: path})
		objects := create(t, s, ref, 3)
		big := blob(strings.Repeat("a large tool result\n", 5000))
		next := commit(tip(objects), "after")
		require.NoError(t, s.Write(t.Context(), odb.Batch{
			Objects: []odb.Object{big, next},
			Updates: []odb.RefUpdate{{Ref: ref, Old: tip(objects), New: next.OID}},
		}))

		require.Equal(t, string(next.OID), git(t, repo, "rev-parse", ref))
		require.Equal(t, "4", git(t, repo, "rev-list", "--count", ref))
		require.Equal(t, strings.TrimSpace(string(big.Data)), git(t, repo, "cat-file", "blob", string(big.OID)))
		requireSound(t, repo)
		for _, o := range append(objects, big, next) {
			kind, data, err := s.ReadObject(o.OID)
			require.NoError(t, err)
			require.Equal(t, o.Kind, kind)
			require.Equal(t, string(o.Data), string(data))
		}
	})
}

func TestObjectsAreReadOnlyAndNothingIsLeftBehind(t *testing.T) {
	eachPath(t, func(t *testing.T, path odb.Path) {
		repo := newRepo(t)
		s := open(t, repo, odb.Options{Format: testFormat, Path: path})
		objects := create(t, s, ref, 2)
		files, err := filepath.Glob(filepath.Join(repo, ".git/objects/??/*"))
		require.NoError(t, err)
		require.Len(t, files, len(objects))
		for _, f := range files {
			info, err := os.Stat(f)
			require.NoError(t, err)
			require.Zero(t, info.Mode().Perm()&0o222, f)
			require.NotZero(t, info.Mode().Perm()&0o400, f)
		}
		left, err := filepath.Glob(filepath.Join(repo, ".git/objects/tmp_obj_*"))
		require.NoError(t, err)
		require.Empty(t, left)
		require.NoFileExists(t, filepath.Join(repo, ".git", ref+".lock"))
	})
}
