package convert_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"jp/gitcmd"
	"jp/gitcmd/convert"
	"jp/internal/testing/gitenv"
)

// The text of a file that needs a filter stays out of the store under a name without one.
func TestContentUnderAnotherName(t *testing.T) {
	for name, tt := range map[string]struct {
		does     string // with a.key, which has the filter, and plain.txt
		path     string
		of       string // whose content it has; "" for its own
		approved bool
	}{
		"moved":                           {does: "mv a.key notes.txt", path: "notes.txt", of: "a.key"},
		"moved by git":                    {does: "git mv a.key notes.txt", path: "notes.txt", of: "a.key"},
		"moved into a folder":             {does: "mkdir -p d; mv a.key d/notes", path: "d/notes", of: "a.key"},
		"moved over another":              {does: "mv a.key plain.txt", path: "plain.txt", of: "a.key"},
		"copied":                          {does: "cp a.key notes.txt", path: "notes.txt", of: "a.key"},
		"copied after a change":           {does: "echo more >>a.key; cp a.key notes.txt", path: "notes.txt", of: "a.key"},
		"a hard link":                     {does: "ln a.key notes.txt", path: "notes.txt", of: "a.key"},
		"moved from a new file":           {does: "echo new >b.key; cp b.key notes.txt; git add -N b.key", path: "notes.txt", of: "b.key"},
		"copied, and the file removed":    {does: "cp a.key notes.txt; rm a.key", path: "notes.txt", of: "a.key"},
		"copied, and the file moved":      {does: "cp a.key notes.txt; mv a.key b.txt", path: "notes.txt", of: "a.key"},
		"copied, and moved by git":        {does: "cp a.key notes.txt; git mv a.key b.txt", path: "notes.txt", of: "a.key"},
		"copied, and written anew":        {does: "cp a.key notes.txt; echo foo >a.key", path: "notes.txt", of: "a.key"},
		"copied, and removed by git":      {does: "cp a.key notes.txt; git rm -qf a.key", path: "notes.txt", of: "a.key"},
		"copied twice":                    {does: "cp a.key x; cp x notes.txt; rm a.key x", path: "notes.txt", of: "a.key"},
		"as long as it":                   {does: "tr a-z z <a.key >notes.txt", path: "notes.txt"},
		"another file":                    {does: "echo x >notes.txt", path: "notes.txt"},
		"an empty one":                    {does: ": >a.key; : >notes.txt", path: "notes.txt"},
		"a file without it":               {does: "mv plain.txt notes.txt", path: "notes.txt"},
		"moved, with a filter that runs":  {does: "mv a.key notes.txt", path: "notes.txt", approved: true},
		"copied, with a filter that runs": {does: "cp a.key notes.txt", path: "notes.txt", approved: true},
	} {
		t.Run(name, func(t *testing.T) {
			dir := gitenv.Repo(t)
			shell := func(script string) {
				cmd := exec.Command("sh", "-ec", script)
				cmd.Dir = dir
				out, err := cmd.CombinedOutput()
				require.NoError(t, err, "%s", out)
			}
			gitenv.Git(t, dir, "config", "filter.crypt.clean", "tr a-z n-za-m")
			gitenv.Git(t, dir, "config", "filter.crypt.smudge", "tr a-z n-za-m")
			shell("echo '*.key filter=crypt' >.gitattributes; echo the password >a.key; echo plain text >plain.txt")
			old := time.Now().Add(-time.Hour) // git distrusts files as new as its index
			require.NoError(t, os.Chtimes(dir+"/a.key", old, old))
			gitenv.Git(t, dir, "add", ".")
			gitenv.Git(t, dir, "commit", "-qm", "two")
			repo, err := gitcmd.Locate(t.Context(), dir, gitcmd.Options{})
			require.NoError(t, err)
			o := gitcmd.Options{}
			if tt.approved {
				o.MayRun = func(gitcmd.Repository, gitcmd.Filter) error { return nil }
			}
			c := convert.New(gitcmd.At(repo, o), repo)
			head := gitenv.Git(t, dir, "rev-parse", "HEAD")
			require.NoError(t, c.Remember(t.Context(), func() (string, error) { return head, nil }))
			shell(tt.does)
			attributes, err := convert.Attributes(t.Context(), gitcmd.At(repo, o), []string{tt.path})
			require.NoError(t, err)
			gaps, err := c.JudgeContent(t.Context(), attributes, head)
			require.NoError(t, err)
			if tt.of == "" {
				require.Empty(t, gaps)
				return
			}
			require.Contains(t, gaps, tt.path)
			require.Equal(t, tt.of, gaps[tt.path].Of)
			require.Contains(t, gaps[tt.path].Why(), "has the content of "+tt.of+", which needs the filter crypt")
		})
	}
}

// A pattern that git matches without case gives its filter, even if the disk tells cases apart.
func TestAttributesInAnotherCase(t *testing.T) {
	for name, tt := range map[string]struct {
		folds, committed, approved bool
		path                       string
		gap                        bool
	}{
		"folded":                      {folds: true, path: "a.key", gap: true},
		"folded, of HEAD":             {folds: true, committed: true, path: "a.key", gap: true},
		"folded, with its filter run": {folds: true, approved: true, path: "a.key", gap: true},
		"folded, of no pattern":       {folds: true, path: "plain.txt"},
		"not folded":                  {path: "a.key"},
	} {
		t.Run(name, func(t *testing.T) {
			dir := gitenv.Repo(t)
			for key, value := range map[string]string{"filter.crypt.clean": "tr a-z n-za-m", "core.ignoreCase": strconv.FormatBool(tt.folds)} {
				gitenv.Git(t, dir, "config", key, value)
			}
			for file, text := range map[string]string{".gitattributes": "*.KEY filter=crypt\n", "a.key": "the password\n", "plain.txt": "plain\n"} {
				require.NoError(t, os.WriteFile(filepath.Join(dir, file), []byte(text), 0o600))
			}
			head := ""
			if tt.committed {
				gitenv.Git(t, dir, "add", ".")
				gitenv.Git(t, dir, "commit", "-qm", "two")
				head = gitenv.Git(t, dir, "rev-parse", "HEAD")
			}
			repo, err := gitcmd.Locate(t.Context(), dir, gitcmd.Options{})
			require.NoError(t, err)
			o := gitcmd.Options{}
			if tt.approved {
				o.MayRun = func(gitcmd.Repository, gitcmd.Filter) error { return nil }
			}
			gaps, err := convert.New(gitcmd.At(repo, o), repo).Gaps(t.Context(), []string{tt.path}, head)
			require.NoError(t, err)
			require.Equal(t, tt.gap, len(gaps) > 0, "%v", gaps)
		})
	}
}
