package convert_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"jp/gitcmd"
	"jp/gitcmd/convert"
	"jp/internal/testing/gitenv"
)

func TestReencoded(t *testing.T) {
	const wide, crlf, id = "a\x00\r\x00\n\x00", "a\r\nb\r\n", "$Id: 1234 $\n"
	const encoded, none = "*.x working-tree-encoding=UTF-16LE\n", "# none\n"
	for name, c := range map[string]struct {
		was, is, info string // attributes
		text, want    string
	}{
		"encoding removed":        {encoded, none, "", wide, "working-tree-encoding=UTF-16LE"},
		"encoding changed":        {encoded, "*.x working-tree-encoding=UTF-16BE\n", "", wide, "working-tree-encoding=UTF-16LE"},
		"encoding of a large one": {encoded, none, "", strings.Repeat(wide, 400_000), "working-tree-encoding=UTF-16LE"},
		"encoding unset in info":  {encoded, encoded, "*.x -working-tree-encoding\n", wide, "working-tree-encoding=UTF-16LE"},
		"encoding kept":           {encoded, encoded + "*.x text\n", "", wide, ""},
		"encoding of an empty":    {encoded, none, "", "", ""},
		"encoding new":            {none, encoded, "", wide, ""},
		"ident removed":           {"*.x ident\n", none, "", id, "ident"},
		"ident, nothing expanded": {"*.x ident\n", none, "", "$Id$\n", ""},
		"text removed":            {"*.x text\n", none, "", crlf, "text"},
		"text unset":              {"*.x text\n", "*.x -text\n", "", crlf, "text"},
		"text, LF":                {"*.x text\n", none, "", "a\n", ""},
		"text to eol":             {"*.x text\n", "*.x eol=crlf\n", "", crlf, ""},
		"eol removed":             {"*.x eol=crlf\n", none, "", crlf, "text"},
		"eol changed":             {"*.x eol=crlf\n", "*.x eol=lf\n", "", crlf, ""},
		"auto removed":            {"* text=auto\n", none, "", crlf, "text"},
		"auto, binary":            {"* text=auto\n", none, "", crlf + "\x00", ""},
		"a macro":                 {"[attr]doc text eol=crlf\n*.x doc\n", none, "", crlf, "text"},
		"other files":             {"*.y text\n", none, "", crlf, ""},
		"the filter only":         {"*.x filter=f\n", none, "", crlf, ""},
		"unchanged":               {"*.x text\n", "*.x text\n", "", crlf, ""},
	} {
		t.Run(name, func(t *testing.T) {
			dir := gitenv.Repo(t)
			write := func(name, text string) {
				name = filepath.Join(dir, name)
				require.NoError(t, os.MkdirAll(filepath.Dir(name), 0o755))
				require.NoError(t, os.WriteFile(name, []byte(text), 0o644))
			}
			write(".gitattributes", c.was)
			write("d/other", "")
			gitenv.Git(t, dir, "add", ".")
			gitenv.Git(t, dir, "commit", "-qm", "two")
			repo, err := gitcmd.Locate(t.Context(), dir, gitcmd.Options{})
			require.NoError(t, err)
			checker := convert.New(gitcmd.At(repo, gitcmd.Options{}), repo)
			write(".gitattributes", c.is)
			if c.info != "" {
				write(".git/info/attributes", c.info)
			}
			write("d/a.x", c.text)
			lost, err := checker.Reencoded(t.Context(), []string{"d/a.x"}, gitenv.Git(t, dir, "rev-parse", "HEAD"))
			require.NoError(t, err)
			require.Equal(t, c.want, lost["d/a.x"])
		})
	}
}

// With core.autocrlf git stores text alike without any attribute.
func TestReencodedWithAutocrlf(t *testing.T) {
	dir := gitenv.Repo(t)
	rules := filepath.Join(dir, ".gitattributes")
	require.NoError(t, os.WriteFile(rules, []byte("*.x text\n"), 0o644))
	gitenv.Git(t, dir, "add", ".")
	gitenv.Git(t, dir, "commit", "-qm", "two")
	require.NoError(t, os.WriteFile(rules, nil, 0o644))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "a.x"), []byte("a\r\n"), 0o644))
	repo, err := gitcmd.Locate(t.Context(), dir, gitcmd.Options{})
	require.NoError(t, err)
	for value, n := range map[string]int{"true": 0, "input": 0, "false": 1} {
		gitenv.Git(t, dir, "config", "core.autocrlf", value)
		lost, err := convert.New(gitcmd.At(repo, gitcmd.Options{}), repo).Reencoded(t.Context(), []string{"a.x"}, gitenv.Git(t, dir, "rev-parse", "HEAD"))
		require.NoError(t, err)
		require.Len(t, lost, n, value)
	}
}

// Before the first commit, the earlier info/attributes counts alike.
func TestInfoAttributesWithoutACommit(t *testing.T) {
	dir := t.TempDir()
	gitenv.Git(t, dir, "init", "-q")
	info := filepath.Join(dir, ".git", "info", "attributes")
	require.NoError(t, os.MkdirAll(filepath.Dir(info), 0o755))
	require.NoError(t, os.WriteFile(info, []byte("*.key filter=crypt\n"), 0o644))
	repo, err := gitcmd.Locate(t.Context(), dir, gitcmd.Options{})
	require.NoError(t, err)
	c := convert.New(gitcmd.At(repo, gitcmd.Options{}), repo)
	require.NoError(t, os.WriteFile(info, []byte("*.key -filter\n"), 0o644))
	gaps, err := c.Gaps(t.Context(), []string{"a.key", "a"}, "")
	require.NoError(t, err)
	require.Len(t, gaps, 1)
	require.Equal(t, "crypt", gaps["a.key"].Filter)
}
