package worktree_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"jp/internal/testing/gitenv"
	"jp/worktree"
)

func TestRequiredFilterOfTheRepositoryKeepsTheParentsEntry(t *testing.T) {
	r := newRepo(t, map[string]string{".gitattributes": "*.bin filter=lfs\n", "a.bin": "pointer\n", "b": "1\n"})
	marker := filepath.Join(t.TempDir(), "ran")
	for key, value := range map[string]string{"clean": "touch " + marker, "smudge": "cat", "required": "true"} {
		r.git("config", "filter.lfs."+key, value)
	}
	s := r.tool(r.head(), func() {
		r.write("a.bin", "content\n")
		r.write("new.bin", "content\n")
		r.write("b", "2\n")
	})
	require.Equal(t, []string{"M b"}, paths(s.Changes))
	require.Equal(t, []string{"a.bin", "new.bin"}, leftPaths(s.LeftOut))
	require.Contains(t, s.LeftOut[0].Why, "lfs")
	require.Equal(t, "pointer\n", r.files(s.Tree)["a.bin"])
	require.NoFileExists(t, marker)
}

// The user staged a version that the parent's tree lacks: the parent's entry counts.
func TestFilteredPathWithAStagedVersion(t *testing.T) {
	r := newRepo(t, map[string]string{".gitattributes": "*.bin filter=lfs\n", "a.bin": "pointer\n"})
	parent := r.head()
	r.write("a.bin", "staged\n")
	r.git("add", "a.bin")
	r.git("config", "filter.lfs.clean", "false")
	r.write("a.bin", "and changed\n")
	s := r.snapshot(parent, worktree.SnapshotOptions{})
	require.Equal(t, parent, s.Tree)
	require.Equal(t, []string{"a.bin"}, leftPaths(s.LeftOut))
}

func TestUsersOwnFilterIsHonoured(t *testing.T) {
	r := newRepo(t, map[string]string{"a.txt": "1\n"})
	r.git("config", "--global", "filter.up.clean", "tr a-z A-Z")
	s := r.tool(r.head(), func() {
		r.write(".gitattributes", "*.txt filter=up\n")
		r.write("a.txt", "loud\n")
	})
	require.Equal(t, "LOUD\n", r.files(s.Tree)["a.txt"])
	require.Empty(t, s.LeftOut)
}

func TestSubmodules(t *testing.T) {
	r := newRepo(t, map[string]string{"a": "1\n"})
	r.git("submodule", "add", "-q", gitenv.Repo(t), "sub")
	r.git("commit", "-qm", "sub")
	sub := filepath.Join(r.dir, "sub")
	marker := filepath.Join(t.TempDir(), "ran")
	gitenv.Git(t, sub, "config", "filter.evil.clean", "touch "+marker+"; cat")
	info := gitenv.Git(t, sub, "rev-parse", "--path-format=absolute", "--git-path", "info/attributes")
	rel, err := filepath.Rel(r.dir, info)
	require.NoError(t, err)
	r.write(rel, "* filter=evil\n")
	r.git("config", "diff.ignoreSubmodules", "none")
	commit := gitenv.Git(t, sub, "rev-parse", "HEAD")

	s := r.tool(r.head(), func() {
		r.write("sub/README.md", "# a repository\n")
		r.write("sub/untracked", "x\n")
		r.write("a", "2\n")
	}, "a")
	require.Equal(t, []string{"M a"}, paths(s.Changes), "what is dirty inside is not recorded")
	require.Equal(t, "commit "+commit, r.files(s.Tree)["sub"])
	_, err = r.w.Status(t.Context())
	require.NoError(t, err)
	require.NoFileExists(t, marker)

	r.git("diff-files")
	require.FileExists(t, marker, "plain git runs the filter")

	gitenv.Git(t, sub, "config", "--remove-section", "filter.evil")
	gitenv.Git(t, sub, "commit", "-qam", "next")
	next := r.snapshot(s.Tree, worktree.SnapshotOptions{})
	require.Equal(t, []string{"M sub"}, paths(next.Changes), "a new commit inside is")
}

// If somebody removes the filter that a file has in HEAD, the file is not recorded without it, in process
// or by git, and not written either.
func TestFilterOfHEADCounts(t *testing.T) {
	for name, lose := range map[string]func(r *repo){
		"no attributes": func(r *repo) { r.remove(".gitattributes") },
		"others":        func(r *repo) { r.write(".gitattributes", "*.key text\n") },
		"nested": func(r *repo) {
			r.write("sub/.gitattributes", "*.key -filter\n")
			r.write(".gitattributes", "sub/*.key filter=crypt\n")
		},
		"info/attributes":  func(r *repo) { r.write(".git/info/attributes", "*.key !filter\n") },
		"no configuration": func(r *repo) { r.git("config", "--remove-section", "filter.crypt") },
		"another filter": func(r *repo) {
			r.git("config", "--global", "filter.cat.clean", "cat")
			r.write(".gitattributes", "*.key filter=cat\n")
		},
		"nothing":              func(*repo) {},
		"not even in an index": func(r *repo) { r.git("rm", "-q", "--cached", ".gitattributes"); r.remove(".gitattributes") },
	} {
		t.Run(name, func(t *testing.T) {
			r := newRepo(t, nil)
			r.git("config", "filter.crypt.clean", "tr a-z n-za-m")
			r.git("config", "filter.crypt.smudge", "tr a-z n-za-m")
			r.write(".gitattributes", "*.key filter=crypt\n")
			r.write("a.key", "plain\n")
			r.write("sub/a.key", "plain\n")
			r.git("add", "-A")
			r.git("commit", "-qm", "files")
			parent := r.head()
			s := r.tool(parent, func() {
				lose(r)
				r.write("a.key", "newer\n")
				r.write("sub/a.key", "newer\n")
				r.write("b", "1\n")
			})
			for _, path := range []string{"a.key", "sub/a.key"} {
				require.Equal(t, "cynva\n", r.files(s.Tree)[path])
				require.Contains(t, leftPaths(s.LeftOut), path)
				_, ok, err := r.w.SnapshotPaths(t.Context(), s.Tree, []string{path}, reader{r.dir})
				require.NoError(t, err)
				require.False(t, ok, "not in process, either")
			}
			require.Equal(t, "1\n", r.files(s.Tree)["b"])
			for _, l := range s.LeftOut {
				require.Contains(t, l.Why, "crypt")
			}

			oid := r.git("rev-parse", parent+":a.key")
			put := worktree.WriteOp{Path: "a.key", Is: worktree.Version{Mode: "100644", OID: oid}, To: worktree.Version{Mode: "100644", OID: oid}}
			left, err := r.w.Restore(t.Context(), []worktree.WriteOp{put}, r.w.StatAll([]string{"a.key"}), nil)
			require.NoError(t, err)
			require.Equal(t, []string{"a.key"}, leftPaths(left))
			text, err := os.ReadFile(r.path("a.key"))
			require.NoError(t, err)
			require.Equal(t, "newer\n", string(text))
		})
	}
}

// If a filter fails on which the user's git would not insist, its files are still not taken as they are.
func TestOwnFilterThatFails(t *testing.T) {
	r := newRepo(t, map[string]string{".gitattributes": "*.key filter=crypt\n", "a.key": "cynva\n"})
	r.git("config", "--global", "filter.crypt.clean", "false")
	s := r.tool(r.head(), func() { r.write("a.key", "plain\n"); r.write("b", "1\n") })
	require.Equal(t, []string{"A b"}, paths(s.Changes))
	require.Equal(t, []string{"a.key"}, leftPaths(s.LeftOut))
	require.Contains(t, s.LeftOut[0].Why, "external filter 'false' failed")
}

// A conversion that fails keeps only its own file back, with git's reason.
func TestRestoreOfFilesWhoseFilterFails(t *testing.T) {
	files := map[string]string{".gitattributes": "*.enc filter=pick\n*.bin filter=lfs\n", "main.go": "1\n", "z/notes.txt": "1\n", "c.enc": "fine\n"}
	r := newRepo(t, files)
	r.git("config", "--global", "filter.pick.smudge", "grep -v broken")
	r.git("config", "--global", "filter.pick.clean", "cat")
	r.git("config", "--global", "filter.lfs.clean", "cat")
	r.git("config", "--global", "filter.lfs.smudge", "cat")
	pointer := "version https://git-lfs.github.com/spec/v1\noid sha256:" + strings.Repeat("0", 64) + "\nsize 1\n"
	for name, text := range map[string]string{"a.enc": "broken\n", "b.enc": "broken\n", "p.bin": pointer} {
		r.write(name, text)
	}
	r.git("add", ".")
	r.git("commit", "-qm", "more")
	from := r.head()
	s := r.tool(from, func() {
		for _, name := range []string{"main.go", "z/notes.txt", "a.enc", "b.enc", "c.enc", "p.bin"} {
			r.write(name, "changed\n")
		}
	})
	left := r.back(from, s.Tree)
	require.Equal(t, []string{"a.enc", "b.enc", "p.bin"}, leftPaths(left))
	for _, l := range left[:2] {
		require.Equal(t, "git could not write it: external filter 'grep -v broken' failed 1", l.Why)
		require.True(t, l.Failed)
	}
	require.Contains(t, left[2].Why, "git lfs fetch --all")
	for name, text := range map[string]string{"main.go": "1\n", "z/notes.txt": "1\n", "c.enc": "fine\n", "a.enc": "changed\n", "p.bin": "changed\n"} {
		is, err := os.ReadFile(r.path(name))
		require.NoError(t, err)
		require.Equal(t, text, string(is), name)
	}

	t.Setenv("GIT_LFS_SKIP_SMUDGE", "1")
	r.open(worktree.Options{})
	require.Equal(t, []string{"a.enc", "b.enc"}, leftPaths(r.back(from, s.Tree)), "the user wants pointers")
}

// Content in the index may have gone round the filter: snapshots leave it out.
func TestStagedWithoutItsFilter(t *testing.T) {
	const secret = "swordfish\n"
	write := func(r *repo, name, content string) { // git looks into files that are as new as its index
		r.write(name, content)
		old := time.Now().Add(-time.Duration(len(content)) * time.Hour)
		require.NoError(r.t, os.Chtimes(r.path(name), old, old))
	}
	raw := func(r *repo, name string) {
		r.git("-c", "filter.crypt.clean=cat", "-c", "filter.crypt.required=false", "add", name)
	}
	for name, tt := range map[string]struct {
		stage func(r *repo)
		own   bool     // the filter is the user's own, and runs
		want  string   // of a.key in the snapshot
		left  []string // by name
	}{
		"nothing":          {func(*repo) {}, false, "byq\n", nil},
		"plain":            {func(r *repo) { write(r, "a.key", secret); raw(r, "a.key") }, false, "byq\n", []string{"a.key"}},
		"plain, committed": {func(r *repo) { write(r, "a.key", secret); raw(r, "a.key"); r.git("commit", "-qm", "own") }, false, "byq\n", []string{"a.key"}},
		"a new file":       {func(r *repo) { write(r, "n.key", secret); raw(r, "n.key") }, false, "byq\n", []string{"n.key"}},
		"a copy":           {func(r *repo) { write(r, "c.txt", "old\n"); r.git("add", "c.txt") }, false, "byq\n", []string{"c.txt"}},
		"converted, and committed": {func(r *repo) {
			write(r, "a.key", secret)
			r.git("-c", "filter.crypt.clean=tr a-z n-za-m", "commit", "-qam", "own")
		}, false, "fjbeqsvfu\n", nil},
		"plain, and the filter runs":     {func(r *repo) { write(r, "a.key", secret); raw(r, "a.key") }, true, "fjbeqsvfu\n", nil},
		"committed, and the filter runs": {func(r *repo) { write(r, "a.key", secret); raw(r, "a.key"); r.git("commit", "-qm", "own") }, true, "fjbeqsvfu\n", nil},
		"converted, and the filter runs": {func(r *repo) { write(r, "a.key", secret); r.git("add", "a.key") }, true, "fjbeqsvfu\n", nil},
		"another file":                   {func(r *repo) { r.write("b", "2\n"); r.git("add", "b") }, false, "byq\n", nil},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRepo(t, map[string]string{"b": "1\n"})
			scope := "--local"
			if tt.own {
				scope = "--global"
			}
			r.git("config", scope, "filter.crypt.clean", "tr a-z n-za-m")
			r.git("config", scope, "filter.crypt.smudge", "tr a-z n-za-m")
			r.write(".gitattributes", "*.key filter=crypt\n")
			write(r, "a.key", "old\n")
			r.git("add", ".")
			r.git("commit", "-qm", "keys")
			s := r.tool(r.head(), func() { tt.stage(r) })
			files := r.files(s.Tree)
			require.Equal(t, tt.want, files["a.key"])
			require.Equal(t, tt.left, leftPaths(s.LeftOut))
			for _, path := range tt.left {
				require.NotContains(t, files[path], "swordfish")
			}
			require.NotContains(t, files, "c.txt")
			require.NotContains(t, files, "n.key")
			next := r.tool(s.Tree, func() { r.write("b", "3\n") })
			require.Equal(t, tt.want, r.files(next.Tree)["a.key"], "and so in the one after it")
		})
	}
}
