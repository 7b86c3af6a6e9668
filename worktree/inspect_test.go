package worktree_test

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"jp/worktree"
)

// noSecrets refuses a content with the word, unless the word was there before.
func noSecrets(_ string, was, is []byte) string {
	if bytes.Contains(is, []byte("hunter2")) && !bytes.Contains(was, []byte("hunter2")) {
		return "holds a secret"
	}
	return ""
}

func TestInspectedContentStaysOut(t *testing.T) {
	r := newRepo(t, map[string]string{"known": "was\n", "had": "hunter2\n", "plain": "x\n", "bin/run": "#!\n"})
	r.open(worktree.Options{Inspect: noSecrets})
	parent := r.head()
	s := r.both(parent, []string{"known", "had", "plain", "new", "dir/new2"}, func() {
		r.write("known", "it is hunter2\n")
		r.write("had", "hunter2\nand more\n")
		r.write("plain", "y\n")
		r.write("new", "hunter2")
		r.write("dir/new2", "fine\n")
	})
	require.Equal(t, []string{"A dir/new2", "M had", "M plain"}, paths(s.Changes))
	require.Equal(t, []worktree.Skipped{{Path: "known", Why: "holds a secret"}, {Path: "new", Why: "holds a secret"}}, s.LeftOut)
	files := r.files(s.Tree)
	require.Equal(t, "was\n", files["known"])
	require.NotContains(t, files, "new")
	for _, blob := range strings.Fields(r.git("cat-file", "--batch-all-objects", "--batch-check=%(objectname)")) {
		if content := r.git("cat-file", "-p", blob); strings.Contains(content, "hunter2") {
			require.True(t, strings.HasPrefix(content, "hunter2"), content)
			require.Contains(t, []string{"hunter2", "hunter2\nand more"}, strings.TrimSpace(content), "only what had it before")
			require.NotEqual(t, "it is hunter2", strings.TrimSpace(content))
		}
	}
}

func TestWhatIsTooLargeIsNotInspected(t *testing.T) {
	r := newRepo(t, map[string]string{"large": "x\n"})
	asked := 0
	r.open(worktree.Options{Inspect: func(string, []byte, []byte) string { asked++; return "no" }})
	s := r.tool(r.head(), func() { r.write("large", strings.Repeat("x", 1<<20+1)) })
	require.Equal(t, []string{"M large"}, paths(s.Changes))
	require.Zero(t, asked)
}

// A file that is the same file as another one, perhaps outside, is not the tool's work here.
func TestANewFileWithOtherNamesIsLeftOut(t *testing.T) {
	r := newRepo(t, map[string]string{"a": "1\n"})
	outside := filepath.Join(t.TempDir(), "secret")
	require.NoError(t, os.WriteFile(outside, []byte("canary\n"), 0o600))
	s := r.tool(r.head(), func() { require.NoError(t, os.Link(outside, r.path("new"))) })
	require.Equal(t, []worktree.Skipped{{Path: "new", Why: "has other names"}}, s.LeftOut)
	require.Empty(t, s.Changes)
}
