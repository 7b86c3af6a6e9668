package snapshot

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"jp/gitcmd"
	"jp/internal/gitenv"
)

// TestMovedRefs moves refs in every way, packed and loose.
func TestMovedRefs(t *testing.T) {
	for name, c := range map[string]struct {
		does [][]string
		want string
	}{
		"nothing":           {nil, ""},
		"a new branch":      {[][]string{{"branch", "new"}}, "refs/heads +1"},
		"a branch gone":     {[][]string{{"branch", "-D", "side"}}, "refs/heads -1"},
		"a branch renamed":  {[][]string{{"branch", "-m", "side", "other"}}, "refs/heads +1 -1"},
		"a branch moved":    {[][]string{{"branch", "-f", "side", "first"}}, "side moved"},
		"the own one":       {[][]string{{"commit", "--allow-empty", "-qm", "x"}}, ""},
		"many moved":        {[][]string{{"update-ref", "refs/heads/side", "first"}, {"update-ref", "refs/heads/b", "first"}, {"update-ref", "refs/heads/c", "first"}, {"update-ref", "refs/heads/d", "first"}}, "b moved, c moved, d moved, 1 more moved"},
		"a tag":             {[][]string{{"tag", "v1"}, {"tag", "v2"}}, "refs/tags +2"},
		"a stash":           {[][]string{{"stash", "-q"}}, "refs/stash +1"},
		"a note":            {[][]string{{"notes", "add", "-m", "x"}}, "refs/notes +1"},
		"a remote ref":      {[][]string{{"update-ref", "refs/remotes/origin/x", "HEAD"}}, "refs/remotes +1"},
		"packed":            {[][]string{{"pack-refs", "--all"}}, ""},
		"packed and gone":   {[][]string{{"pack-refs", "--all"}, {"branch", "-D", "side"}}, "refs/heads -1"},
		"jp's own":          {[][]string{{"update-ref", "refs/jp/conversations/x", "HEAD"}}, ""},
		"a replacement":     {[][]string{{"update-ref", "refs/replace/x", "HEAD"}}, ""},
		"there and back":    {[][]string{{"branch", "new"}, {"branch", "-D", "new"}}, ""},
		"several at a time": {[][]string{{"tag", "v1"}, {"branch", "new"}, {"branch", "-f", "side", "first"}}, "refs/heads +1, refs/tags +1, side moved"},
	} {
		t.Run(name, func(t *testing.T) {
			dir := gitenv.Repo(t)
			git := func(args ...string) { gitenv.Git(t, dir, args...) }
			require.NoError(t, os.WriteFile(filepath.Join(dir, "a.txt"), []byte("a\n"), 0o600))
			git("add", ".")
			git("commit", "-qm", "first")
			git("branch", "-M", "main")
			git("tag", "first")
			git("commit", "--allow-empty", "-qm", "second")
			for _, branch := range []string{"side", "b", "c", "d"} {
				git("branch", branch)
			}
			require.NoError(t, os.WriteFile(filepath.Join(dir, "a.txt"), []byte("b\n"), 0o600))
			at, err := gitcmd.Locate(t.Context(), dir, gitcmd.Options{})
			require.NoError(t, err)
			f := &Files{git: at, run: gitcmd.At(at, gitcmd.Options{})}
			before := f.refs(t.Context())
			for _, args := range c.does {
				git(args...)
			}
			require.Equal(t, c.want, f.refs(t.Context()).changed(before, "main"))
		})
	}
}
