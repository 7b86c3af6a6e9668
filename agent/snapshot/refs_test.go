package snapshot

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"jp/gitcmd"
	"jp/internal/testing/gitenv"
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
		"the own one back":  {[][]string{{"reset", "-q", "--hard", "first"}}, "main moved"},
		"the own one again": {[][]string{{"commit", "--amend", "--allow-empty", "-qm", "x"}}, "main moved"},
		"many moved":        {[][]string{{"update-ref", "refs/heads/side", "first"}, {"update-ref", "refs/heads/b", "first"}, {"update-ref", "refs/heads/c", "first"}, {"update-ref", "refs/heads/d", "first"}}, "b moved, c moved, d moved, 1 more moved"},
		"a tag":             {[][]string{{"tag", "v1"}, {"tag", "v2"}}, "refs/tags +2"},
		"a stash":           {[][]string{{"stash", "-q"}}, "refs/stash +1"},
		"a note":            {[][]string{{"notes", "add", "-m", "x"}}, "refs/notes +1"},
		"a remote ref":      {[][]string{{"update-ref", "refs/remotes/origin/x", "HEAD"}}, "refs/remotes +1"},
		"packed":            {[][]string{{"pack-refs", "--all"}}, ""},
		"packed and gone":   {[][]string{{"pack-refs", "--all"}, {"branch", "-D", "side"}}, "refs/heads -1"},
		"jp's own":          {[][]string{{"update-ref", "refs/jp/conversations/x", "HEAD"}}, ""},
		"a cut history":     {[][]string{{"-c", "alias.cut=!git rev-parse HEAD >.git/shallow", "cut"}}, "shallow 0 → 1"},
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
			before := f.refs(t.Context(), false)
			for _, args := range c.does {
				git(args...)
			}
			moved, _ := f.movedRefs(t.Context(), before, "main")
			require.Equal(t, c.want, moved)
		})
	}
}

func TestDroppedStashes(t *testing.T) {
	for name, c := range map[string]struct {
		does [][]string
		want string // the messages of those that are gone
	}{
		"nothing":     {nil, ""},
		"the newest":  {[][]string{{"stash", "pop", "-q"}}, "two"},
		"an old one":  {[][]string{{"stash", "drop", "-q", "stash@{1}"}}, "one"},
		"all":         {[][]string{{"stash", "clear"}}, "onetwo"},
		"one more":    {[][]string{{"stash", "apply", "-q"}, {"stash", "-q"}}, ""},
		"there again": {[][]string{{"stash", "pop", "-q"}, {"stash", "-q"}}, "two"},
	} {
		for _, format := range [][]string{{"--object-format=sha1"}, {"--object-format=sha256"}, {"--ref-format=reftable"}, {"--ref-format=reftable", "--object-format=sha256"}} {
			t.Run(name+strings.Join(format, ""), func(t *testing.T) {
				if strings.Contains(format[0], "reftable") && !gitenv.KnowsReftable() {
					t.Skip("this git knows no reftables")
				}
				dir := gitenv.Repo(t)
				require.NoError(t, os.RemoveAll(filepath.Join(dir, ".git")))
				gitenv.Git(t, dir, append([]string{"init", "-q"}, format...)...)
				gitenv.Git(t, dir, "add", ".")
				gitenv.Git(t, dir, "commit", "-qm", "first")
				var commits []string
				for _, word := range []string{"one", "two"} {
					require.NoError(t, os.WriteFile(filepath.Join(dir, "README.md"), []byte(word), 0o600))
					gitenv.Git(t, dir, "stash", "push", "-qm", word)
					commits = append(commits, gitenv.Git(t, dir, "rev-parse", "refs/stash"))
				}
				at, err := gitcmd.Locate(t.Context(), dir, gitcmd.Options{})
				require.NoError(t, err)
				f := &Files{git: at, run: gitcmd.At(at, gitcmd.Options{})}
				before := f.refs(t.Context(), false)
				for _, args := range c.does {
					gitenv.Git(t, dir, args...)
				}
				_, dropped := f.movedRefs(t.Context(), before, "main")
				require.Equal(t, c.want == "", len(dropped) == 0)
				for i, word := range []string{"one", "two"} {
					named := len(dropped) > 0 && strings.Contains(dropped[0].Why, commits[i])
					require.Equal(t, strings.Contains(c.want, word), named, word)
				}
			})
		}
	}
}
