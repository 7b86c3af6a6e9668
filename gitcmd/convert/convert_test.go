package convert_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"jp/gitcmd"
	"jp/gitcmd/convert"
	"jp/internal/testing/gitenv"
)

func TestWeakened(t *testing.T) {
	const was = "# filter of old\n*.key filter=crypt\n[attr]secret filter=crypt\n*.txt text\n"
	for is, line := range map[string]string{
		was:                               "",
		was + "*.go text\n":               "",
		was + "*.pem filter=crypt\n":      "",
		"*.txt text\n" + was:              "",
		was + "*.key -filter\n":           "*.key -filter",
		was + "[attr]open !filter\n":      "[attr]open !filter",
		"*.key filter=crypt\n":            "[attr]secret filter=crypt",
		"":                                "*.key filter=crypt",
		"# *.key filter=crypt\n":          "*.key filter=crypt",
		"*.key  filter=crypt\n" + was[1:]: "",
	} {
		require.Equal(t, line, convert.Weakened(was, is), "%q", is)
	}
	require.Empty(t, convert.Weakened("", was), "what is new gives filters")
}

// The content of info/attributes when jp begins counts, too, so that a tool cannot remove it.
func TestInfoAttributesOfBefore(t *testing.T) {
	dir := gitenv.Repo(t)
	info := filepath.Join(dir, ".git", "info", "attributes")
	require.NoError(t, os.MkdirAll(filepath.Dir(info), 0o755))
	require.NoError(t, os.WriteFile(info, []byte("*.md filter=crypt\n"), 0o644))
	gitenv.Git(t, dir, "config", "--global", "filter.crypt.clean", "tr a-z n-za-m")
	repo, err := gitcmd.Locate(t.Context(), dir, gitcmd.Options{})
	require.NoError(t, err)
	c := convert.New(gitcmd.At(repo, gitcmd.Options{}), repo)
	gaps := func() map[string]convert.Gap {
		gaps, err := c.Gaps(t.Context(), []string{"README.md", "other"}, gitenv.Git(t, dir, "rev-parse", "HEAD"))
		require.NoError(t, err)
		return gaps
	}
	require.Empty(t, gaps(), "it runs")
	require.NoError(t, os.Remove(info))
	require.Len(t, gaps(), 1)
	require.True(t, gaps()["README.md"].Lost)
	require.Contains(t, gaps()["README.md"].Why(), "crypt")
}

func TestPointers(t *testing.T) {
	const oid = "1111111111111111111111111111111111111111111111111111111111111111"
	text := "version https://git-lfs.github.com/spec/v1\noid sha256:" + oid + "\nsize 3\n"
	require.Equal(t, oid, convert.PointerOID([]byte(text)))
	for _, other := range []string{"", "text", "oid sha256:" + oid, "version https://git-lfs.github.com/spec/v1\noid sha256:../../x\n"} {
		require.Empty(t, convert.PointerOID([]byte(other)))
	}
}
