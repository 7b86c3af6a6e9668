package staging_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"jp/gitcmd"
	"jp/internal/gitenv"
	"jp/worktree/staging"
)

func TestLost(t *testing.T) {
	const stage = `echo staged >new; echo 2 >a; git add new a; git rm -q --cached b; echo 3 >a`
	for name, c := range map[string]struct {
		before, tool string
		want         []string // with ! where no blob is named
	}{
		"reset":                    {stage, "git reset -q", []string{"a", "!b", "new"}},
		"reset --hard":             {stage, "git reset -q --hard", []string{"a", "!b", "new"}},
		"reset one":                {stage, "git reset -q a", []string{"a"}},
		"add again":                {stage, "git add a b", []string{"a", "!b"}},
		"stash":                    {stage, "git stash -q", []string{"a", "!b", "new"}},
		"stash pop":                {stage, "git stash -q; git stash pop -q --index", nil},
		"checkout a file":          {stage, "git checkout -q HEAD -- a", []string{"a"}},
		"restore the working tree": {stage, "git restore a", nil},
		"switch":                   {stage, "git switch -q -c other", nil},
		"commit":                   {stage, "git commit -qm x", nil},
		"commit all":               {stage, "git commit -qam x", []string{"a"}},
		"commit and reset":         {stage, "git commit -qm x new; git reset -q", []string{"a", "!b"}},
		"git mv":                   {stage, "git mv new newer", nil},
		"refresh":                  {stage, "touch c; git update-index -q --refresh; git status", nil},
		"the index is gone":        {stage, "rm .git/index", []string{"a", "new"}},
		"nothing was staged":       {"echo 2 >a", "git add a; git reset -q", nil},
		"staged by the tool":       {"echo 2 >a", "git add a", nil},
		"intent to add":            {"echo n >n; git add -N n", "git reset -q", nil},
		"a mode":                   {"chmod +x a; git add a", "git reset -q", []string{"a"}},
		"strange names":            {"echo n >'é\n*'; echo x >-x; git add -- .", "git reset -q", []string{"-x", "é\n*"}},
		"a conflict":               {"git checkout -qb o; echo o >a; git commit -qam o; git checkout -q -; echo m >a; git commit -qam m; git merge -q o || :", "git merge --abort", nil},
		"split index":              {"git update-index --split-index; " + stage, "git reset -q", []string{"a", "!b", "new"}},
		"index version 4":          {"git update-index --index-version 4; " + stage, "git reset -q", []string{"a", "!b", "new"}},
		"a worktree of its own":    {"git worktree add -q w; cd w; " + stage, "cd w; git reset -q", []string{"a", "!b", "new"}},
		"no commit":                {"rm -rf .git; git init -q; echo n >n; git add n", "git rm -q --cached n", []string{"n"}},
		"the first commit":         {"rm -rf .git; git init -q; echo n >n; git add n", "git commit -qm x", nil},
	} {
		t.Run(name, func(t *testing.T) {
			dir := gitenv.Repo(t)
			run := func(command string) {
				t.Helper()
				cmd := exec.Command("sh", "-c", command)
				cmd.Dir = dir
				out, err := cmd.CombinedOutput()
				require.NoError(t, err, string(out))
			}
			run("echo 1 >a; echo 1 >b; echo 1 >c; git add a b c; git commit -qm files")
			run(c.before)
			if _, err := os.Stat(filepath.Join(dir, "w")); err == nil {
				dir = filepath.Join(dir, "w")
				c.tool = "cd ..; " + c.tool
			}
			repo, err := gitcmd.Locate(t.Context(), dir, gitcmd.Options{})
			require.NoError(t, err)
			git := gitcmd.At(repo, gitcmd.Options{})
			head := func() string {
				out, _ := exec.Command("git", "-C", dir, "rev-parse", "-q", "--verify", "HEAD").Output()
				return string(out[:max(len(out)-1, 0)])
			}
			index := staging.Open(repo, head())
			run(c.tool)
			lost, err := index.Lost(t.Context(), git, head())
			require.NoError(t, err)
			var got []string
			for _, e := range lost {
				if e.Blob == "" {
					e.Path = "!" + e.Path
				} else {
					gitenv.Git(t, dir, "cat-file", "blob", e.Blob)
				}
				got = append(got, e.Path)
			}
			require.Equal(t, c.want, got)
		})
	}
}

func TestNoIndex(t *testing.T) {
	dir := gitenv.Repo(t)
	repo, err := gitcmd.Locate(t.Context(), dir, gitcmd.Options{})
	require.NoError(t, err)
	require.NoError(t, os.RemoveAll(filepath.Join(dir, ".git/index")))
	lost, err := staging.Open(repo, "").Lost(t.Context(), gitcmd.At(repo, gitcmd.Options{}), "")
	require.NoError(t, err)
	require.Empty(t, lost)
}

func TestWords(t *testing.T) {
	const blob = "0123456789abcdef"
	lost := []staging.Entry{{"a", blob}, {"b", ""}, {"c", blob}}
	show := func(path string) string { return path }
	require.Equal(t, "a (git cat-file blob 0123456789ab), b (its deletion), c (git cat-file blob 0123456789ab)", staging.Words(lost, 3, show))
	require.Equal(t, "a (git cat-file blob 0123456789ab), and 2 more", staging.Words(lost, 1, show))
}
