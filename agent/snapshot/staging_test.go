package snapshot

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"jp/gitcmd"
	"jp/internal/testing/gitenv"
)

func TestLost(t *testing.T) {
	const stage = `echo staged >new; echo 2 >a; git add new a; git rm -q --cached b; echo 3 >a`
	for name, c := range map[string]struct {
		before, tool string
		want         []string // with ! if no blob is named, with ~ for files that became untracked, with + for newly staged ones
	}{
		"reset":                    {stage, "git reset -q", []string{"a", "!b", "new"}},
		"reset --hard":             {stage, "git reset -q --hard", []string{"a", "!b", "new"}},
		"reset one":                {stage, "git reset -q a", []string{"a"}},
		"add again":                {stage, "git add a b", []string{"a", "!b", "+a"}},
		"stash":                    {stage, "git stash -q", []string{"a", "!b", "new"}},
		"stash pop":                {stage, "git stash -q; git stash pop -q --index", nil},
		"checkout a file":          {stage, "git checkout -q HEAD -- a", []string{"a"}},
		"restore the working tree": {stage, "git restore a", nil},
		"switch":                   {stage, "git switch -q -c other", nil},
		"commit":                   {stage, "git commit -qm x", nil},
		"commit all":               {stage, "git commit -qam x", []string{"a"}},
		"commit and reset":         {stage, "git commit -qm x new; git reset -q", []string{"a", "!b"}},
		"git mv":                   {stage, "git mv new newer", []string{"+newer"}},
		"refresh":                  {stage, "touch c; git update-index -q --refresh; git status", nil},
		"the index is gone":        {stage, "rm .git/index", []string{"a", "new", "~README.md", "~a", "~c"}},
		"nothing was staged":       {"echo 2 >a", "git add a; git reset -q", nil},
		"staged by the tool":       {"echo 2 >a", "git add a", []string{"+a"}},
		"intent to add":            {"echo n >n; git add -N n", "git reset -q", nil},
		"add all":                  {"echo 2 >a; echo n >n", "git add -A", []string{"+a", "+n"}},
		"add all, staged before":   {stage + "; echo n >n", "git add -A", []string{"a", "!b", "+a", "+n"}},
		"a mode":                   {"chmod +x a; git add a", "git reset -q", []string{"a"}},
		"strange names":            {"echo n >'é\n*'; echo x >-x; git add -- .", "git reset -q", []string{"-x", "é\n*"}},
		"a conflict":               {"git checkout -qb o; echo o >a; git commit -qam o; git checkout -q -; echo m >a; git commit -qam m; git merge -q o || :", "git merge --abort", nil},
		"split index":              {"git update-index --split-index; " + stage, "git reset -q", []string{"a", "!b", "new"}},
		"index version 4":          {"git update-index --index-version 4; " + stage, "git reset -q", []string{"a", "!b", "new"}},
		"a worktree of its own":    {"git worktree add -q w; cd w; " + stage, "cd w; git reset -q", []string{"a", "!b", "new"}},
		"rm --cached":              {"", "git rm -q --cached a", []string{"~a"}},
		"rm --cached, staged more": {stage, "git rm -qf --cached a c; rm c", []string{"a", "~a"}},
		"rm --cached, committed":   {"", "git rm -q --cached a; git commit -qm x", nil},
		"rm --cached, HEAD moved":  {"", "git commit -q --allow-empty -m x; git rm -q --cached a b", []string{"~a", "~b"}},
		"rm --cached and added":    {"", "git rm -q --cached a; git add a", nil},
		"rm":                       {"", "git rm -q a", nil},
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
			index := openIndex(repo, head())
			run(c.tool)
			lost, dropped, added, err := index.Lost(t.Context(), git, head())
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
			for _, path := range dropped {
				got = append(got, "~"+path)
			}
			for _, path := range added {
				got = append(got, "+"+path)
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
	lost, _, _, err := openIndex(repo, "").Lost(t.Context(), gitcmd.At(repo, gitcmd.Options{}), "")
	require.NoError(t, err)
	require.Empty(t, lost)
}

func TestWords(t *testing.T) {
	const blob = "0123456789abcdef"
	lost := []stagedEntry{{"a", blob}, {"b", ""}, {"c", blob}}
	show := func(path string) string { return path }
	require.Equal(t, "a (git cat-file blob 0123456789ab), b (its deletion), c (git cat-file blob 0123456789ab)", stagedWords(lost, 3, show))
	require.Equal(t, "a (git cat-file blob 0123456789ab), and 2 more", stagedWords(lost, 1, show))
}

func TestUnstage(t *testing.T) {
	for name, c := range map[string]struct {
		before, tool, back string
		unstaged, still    []string
		status             string // afterwards
	}{
		"nothing staged":          {"", "echo 2 >a", "echo 1 >a", nil, nil, ""},
		"a change":                {"", "echo 2 >a; git add a", "echo 1 >a", []string{"a"}, nil, ""},
		"a new file":              {"", "echo 2 >n; git add n", "rm n", []string{"n"}, nil, ""},
		"a deletion":              {"", "git rm -q a", "echo 1 >a", []string{"a"}, nil, ""},
		"a deletion of the index": {"", "git rm -q --cached a; rm a", "echo 1 >a", []string{"a"}, nil, ""},
		"a mode":                  {"", "chmod +x a; git add a", "chmod -x a", []string{"a"}, nil, ""},
		"a rename":                {"", "git mv a n", "mv n a", []string{"a", "n"}, nil, ""},
		"a rename of a folder":    {"mkdir d; echo d >d/f; git add d; git commit -qm d", "git mv d e", "mv e d", []string{"d/f", "e/f"}, nil, ""},
		"a file for a folder":     {"mkdir d; echo d >d/f; git add d; git commit -qm d", "git rm -q d/f; echo f >d; git add d", "rm d; mkdir d; echo d >d/f", []string{"d", "d/f"}, nil, ""},
		"a link":                  {"", "ln -sf b a; git add a", "rm a; echo 1 >a", []string{"a"}, nil, ""},
		"strange names":           {"", "echo n >'é\n*'; git add -- .", "rm 'é\n*'", []string{"é\n*"}, nil, ""},
		"the user's work before":  {"echo 2 >a", "echo 3 >a; git add a", "echo 2 >a", nil, []string{"a"}, "MM a"},
		"staged before":           {"echo 2 >a; git add a", "echo 3 >a", "echo 2 >a", nil, nil, "M  a"},
		"staged over":             {"echo 2 >a; git add a", "echo 3 >a; git add a", "echo 2 >a", nil, []string{"a"}, "MM a"},
		"staged since":            {"", "echo 2 >a; git add a; echo 3 >a", "echo 1 >a", nil, []string{"a"}, "MM a"},
		"another file":            {"echo 2 >b; git add b", "echo 2 >a; git add a", "echo 1 >a", []string{"a"}, nil, "M  b"},
		"committed":               {"", "echo 2 >a; git commit -qam x", "echo 1 >a", nil, nil, " M a"},
		"another git has it":      {"", "echo 2 >a; git add a; touch .git/index.lock", "echo 1 >a", nil, []string{"a"}, "MM a"},
		"no commit":               {"rm -rf .git; git init -q", "echo n >n; git add n", "rm n", []string{"n"}, nil, "?? README.md ?? a ?? b"},
		"split index":             {"git update-index --split-index", "git mv a n", "mv n a", []string{"a", "n"}, nil, ""},
		"index version 4":         {"git update-index --index-version 4", "git mv a n", "mv n a", []string{"a", "n"}, nil, ""},
	} {
		t.Run(name, func(t *testing.T) {
			dir := gitenv.Repo(t)
			run := func(command string) string {
				t.Helper()
				cmd := exec.Command("sh", "-ec", command)
				cmd.Dir = dir
				out, err := cmd.CombinedOutput()
				require.NoError(t, err, string(out))
				return string(out)
			}
			files := func() map[string]string { // as a snapshot has them
				at := map[string]string{}
				out := run("GIT_INDEX_FILE=.git/other git add -A . && GIT_INDEX_FILE=.git/other git ls-files -sz; rm .git/other")
				for entry := range strings.SplitSeq(out, "\x00") {
					if facts, path, ok := strings.Cut(entry, "\t"); ok {
						at[path] = strings.TrimSuffix(facts, " 0")
					}
				}
				return at
			}
			run("echo 1 >a; echo 1 >b; git add a b; git commit -qm files")
			run(c.before)
			run(c.tool)
			was := files()
			run(c.back)
			is := files()
			var changes []indexChange
			for path := range was {
				changes = append(changes, indexChange{Path: path, Was: was[path], Is: is[path]})
			}
			for path := range is {
				if _, both := was[path]; !both {
					changes = append(changes, indexChange{Path: path, Is: is[path]})
				}
			}
			changes = slices.DeleteFunc(changes, func(c indexChange) bool { return c.Was == c.Is })
			at, err := gitcmd.Locate(t.Context(), dir, gitcmd.Options{})
			require.NoError(t, err)
			head, _ := exec.Command("git", "-C", dir, "rev-parse", "-q", "--verify", "HEAD").Output()
			unstaged, still, err := unstage(t.Context(), gitcmd.At(at, gitcmd.Options{}), strings.TrimSpace(string(head)), changes)
			require.NoError(t, err)
			require.Equal(t, c.unstaged, unstaged)
			require.Equal(t, c.still, still)
			status := strings.Split(strings.TrimRight(run("rm -f .git/index.lock; git status --porcelain"), "\n"), "\n")
			require.Equal(t, c.status, strings.Join(status, " "))
		})
	}
}
