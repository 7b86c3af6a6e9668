package gittool_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestWhatACommitIsAbout(t *testing.T) {
	f := newFixture(t)
	about := func(args arguments) string {
		t.Helper()
		run, ok := f.tools.Lookup("git_commit")
		require.True(t, ok)
		raw, err := json.Marshal(args)
		require.NoError(t, err)
		var names []string
		for _, file := range run.Definition().About(raw, "") {
			names = append(names, strings.TrimSpace(file.Path+" "+file.State))
		}
		return strings.Join(names, "\n")
	}
	f.write("dir/new.txt", "n\n")
	f.write("dir/other", "n\n")
	f.write("ignored", "n\n")
	f.write(".git/info/exclude", "ignored\n")
	f.write("README.md", "changed\n")
	require.NoError(t, os.Symlink("README.md", filepath.Join(f.dir, "link")))
	for name, c := range map[string]struct {
		paths []string
		want  string
	}{
		"a tracked file":        {[]string{"README.md"}, "README.md"},
		"an untracked one":      {[]string{"dir/new.txt"}, "dir/new.txt"},
		"a folder":              {[]string{"dir"}, "dir/new.txt\ndir/other"},
		"everything":            {[]string{"."}, "README.md\ndir/new.txt\ndir/other\nlink link to README.md"},
		"an absolute path":      {[]string{filepath.Join(f.dir, "README.md")}, "README.md"},
		"one that is not there": {[]string{"none"}, ""},
		"one outside":           {[]string{"../x"}, ""},
	} {
		require.Equal(t, c.want, about(arguments{"message": "m", "paths": c.paths}), name)
	}
	require.Empty(t, about(arguments{"message": "m"}))
	f.changed = []string{"README.md", "dir/new.txt"}
	require.Equal(t, "README.md\ndir/new.txt", about(arguments{"message": "m"}))
	require.NoError(t, os.Remove(filepath.Join(f.dir, "README.md")))
	require.Equal(t, "README.md", about(arguments{"message": "m", "paths": []string{"README.md"}}), "a deletion is one of the files")

	require.Empty(t, about(arguments{"message": "m", "staged": true}))
	f.git("add", "dir/new.txt")
	f.write("dir/new.txt", "later\n")
	oid := f.git("rev-parse", ":dir/new.txt")
	require.Equal(t, "dir/new.txt staged 100644 "+oid, about(arguments{"message": "m", "staged": true}))
	f.git("rm", "-q", "--cached", "README.md")
	require.Equal(t, "README.md staged 000000 "+strings.Repeat("0", 40)+"\ndir/new.txt staged 100644 "+oid, about(arguments{"message": "m", "staged": true}))
}
