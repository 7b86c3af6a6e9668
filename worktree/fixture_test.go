package worktree_test

import (
	"crypto/sha256"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"jp/gitcmd"
	"jp/internal/testing/gitenv"
	"jp/worktree"
)

// repo is a repository under test.
type repo struct {
	t   testing.TB
	dir string
	w   *worktree.Worktree
}

// newRepo makes a repository with the files committed; a name maps to content.
func newRepo(t testing.TB, files map[string]string) *repo {
	t.Helper()
	r := &repo{t: t, dir: gitenv.Repo(t)}
	for name, content := range files {
		r.write(name, content)
	}
	if len(files) > 0 {
		r.git("add", "-A")
		r.git("commit", "-q", "-m", "files")
	}
	r.open(worktree.Options{})
	return r
}

func (r *repo) open(opts worktree.Options) {
	r.t.Helper()
	located, err := gitcmd.Locate(r.t.Context(), r.dir, gitcmd.Options{})
	require.NoError(r.t, err)
	r.w, err = worktree.Open(r.t.Context(), located, opts)
	require.NoError(r.t, err)
}

func (r *repo) git(args ...string) string { r.t.Helper(); return gitenv.Git(r.t, r.dir, args...) }

// shell runs a command in the repository.
func (r *repo) shell(command string, env ...string) {
	r.t.Helper()
	cmd := exec.Command("sh", "-e", "-c", command)
	cmd.Dir, cmd.Env = r.dir, append(os.Environ(), env...)
	out, err := cmd.CombinedOutput()
	require.NoError(r.t, err, string(out))
}

func (r *repo) path(name string) string { return filepath.Join(r.dir, name) }

func (r *repo) write(name, content string) {
	r.t.Helper()
	require.NoError(r.t, os.MkdirAll(filepath.Dir(r.path(name)), 0o755))
	require.NoError(r.t, os.WriteFile(r.path(name), []byte(content), 0o644))
}

func (r *repo) remove(name string) { r.t.Helper(); require.NoError(r.t, os.RemoveAll(r.path(name))) }

func (r *repo) head() string {
	r.t.Helper()
	state, err := r.w.State(r.t.Context())
	require.NoError(r.t, err)
	tree, err := r.w.CommitTree(r.t.Context(), state.Head, nil)
	require.NoError(r.t, err)
	return tree
}

func (r *repo) mark() *worktree.Timestamp {
	r.t.Helper()
	m, err := r.w.Now(r.t.Context())
	require.NoError(r.t, err)
	return &m
}

// snapshot takes one and checks that the user's files are untouched, and that a second one right after
// finds no change.
func (r *repo) snapshot(parent string, opts worktree.SnapshotOptions) worktree.Snapshot {
	r.t.Helper()
	before := r.fingerprint()
	s, err := r.w.Snapshot(r.t.Context(), parent, opts)
	require.NoError(r.t, err)
	again, err := r.w.Snapshot(r.t.Context(), s.Tree, opts)
	require.NoError(r.t, err)
	require.Equal(r.t, s.Tree, again.Tree, "a second look finds a phantom change")
	require.Empty(r.t, again.Changes)
	require.Equal(r.t, before, r.fingerprint(), "something of the user's changed")
	return s
}

// tool marks, runs the edits of a tool, and takes the snapshot after it.
func (r *repo) tool(parent string, edits func(), named ...string) worktree.Snapshot {
	r.t.Helper()
	mark := r.mark()
	edits()
	return r.snapshot(parent, worktree.SnapshotOptions{Since: mark, Untracked: true, Named: named})
}

// fingerprint is the content and times of all files but jp's and the objects.
func (r *repo) fingerprint() map[string]string {
	r.t.Helper()
	all := map[string]string{}
	err := filepath.WalkDir(r.dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return nil
		}
		rel, _ := filepath.Rel(r.dir, path)
		name := filepath.Base(path)
		if d.IsDir() {
			if rel != ".git" && strings.Contains(rel, ".git") && (name == "jp" || name == "objects") {
				return filepath.SkipDir
			}
			return nil
		}
		info, err := d.Info()
		if err != nil || strings.HasPrefix(name, "sharedindex.") { // git itself refreshes its time
			return nil
		}
		sum := ""
		if info.Mode().IsRegular() {
			data, _ := os.ReadFile(path)
			sum = fmt.Sprintf("%x", sha256.Sum256(data))
		}
		all[rel] = fmt.Sprintf("%v %v %s", info.Mode(), info.ModTime(), sum)
		return nil
	})
	require.NoError(r.t, err)
	return all
}

// files lists a tree: path to content.
func (r *repo) files(tree string) map[string]string {
	r.t.Helper()
	files := map[string]string{}
	for line := range strings.SplitSeq(strings.TrimSuffix(r.git("ls-tree", "-r", "-z", tree), "\x00"), "\x00") {
		entry, path, _ := strings.Cut(line, "\t")
		fields := strings.Fields(entry)
		if len(fields) != 3 {
			continue
		}
		switch fields[0] {
		case "160000":
			files[path] = "commit " + fields[2]
		case "100755":
			files[path] = "x " + r.blob(fields[2])
		case "120000":
			files[path] = "-> " + r.blob(fields[2])
		default:
			files[path] = r.blob(fields[2])
		}
	}
	return files
}

// blob is the exact content of a blob.
func (r *repo) blob(oid string) string {
	cmd := exec.Command("git", "cat-file", "blob", oid)
	cmd.Dir = r.dir
	out, err := cmd.Output()
	require.NoError(r.t, err)
	return string(out)
}

// addAll is the tree that `git add -A` makes of the working tree, in a copy.
func (r *repo) addAll() string {
	r.t.Helper()
	copied := filepath.Join(r.t.TempDir(), "copy")
	out, err := exec.Command("cp", "-a", r.dir, copied).CombinedOutput()
	require.NoError(r.t, err, string(out))
	gitenv.Git(r.t, copied, "add", "-A")
	return gitenv.Git(r.t, copied, "write-tree")
}

func paths(changes []worktree.Change) []string {
	var list []string
	for _, c := range changes {
		list = append(list, c.Status+" "+c.Path)
	}
	return list
}

func leftPaths(left []worktree.Skipped) []string {
	var list []string
	for _, l := range left {
		list = append(list, l.Path)
	}
	return list
}
