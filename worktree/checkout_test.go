package worktree_test

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"jp/worktree"
)

// Each case is commands that a tool may run, with the files that git itself changed with HEAD then. Files
// that a tool commits do not count.
func TestCameWithHead(t *testing.T) {
	const lines = "1\n2\n3\n4\n5\n6\n7\n8\n9\n"
	tests := map[string]struct {
		run  string
		want string // "path before>after" by content, sorted
	}{
		"nothing":                    {"true", ""},
		"its own commit":             {"echo t >>a; git commit -qam t", ""},
		"its own commit, amended":    {"echo t >>a; git commit -qa --amend -m t", ""},
		"amended with less":          {"git checkout -q HEAD~1 -- a; git commit -qa --amend -m t", "a one>"},
		"squashed":                   {"git reset -q --soft HEAD~1; echo t >>a; git add a; git commit -qm t", ""},
		"several squashed":           {"git reset -q --soft HEAD~2; echo t >>a; git add a; git commit -qm t", ""},
		"a switch":                   {"git switch -q other", "a one>nine; b b>; mm mm>; only >o"},
		"a switch, and its commit":   {"git switch -q other; echo t >>only; git commit -qam t", "a one>nine; b b>; mm mm>; only >o"},
		"a switch, detached":         {"git switch -q --detach other", "a one>nine; b b>; mm mm>; only >o"},
		"forwarded":                  {"git switch -q -C main other~1", "a one>; mm mm>"},
		"a merge":                    {"git merge -q --no-edit other", "a one>one nine; b b>; only >o"},
		"a merge of its own branch":  {"git switch -qc x; echo x >x; git add x; git commit -qm x; git switch -q main; git merge -q --no-ff --no-edit x", ""},
		"a branch of its own, both":  {"git switch -qc x other; echo x >x; git add x; git commit -qm x; git switch -q main; git merge -q --no-edit x", "a one>one nine; b b>; only >o"},
		"a merge, and its commit":    {"git merge -q --no-edit other; echo t >>only; git commit -qam t", "a one>one nine; b b>; only >o"},
		"a rebase":                   {"git rebase -q other", "a one>one nine; b b>; only >o"},
		"a rebase, and its commit":   {"git rebase -q other; echo t >>a; git commit -qam t", "a one>one nine; b b>; only >o"},
		"a cherry-pick":              {"git cherry-pick other >out; rm out", "a one>one nine; b b>; only >o"},
		"a reset":                    {"git reset -q --hard HEAD~1", "a one>; mm mm>"},
		"a reset, and its commit":    {"git reset -q --hard HEAD~1; echo t >t; git add t; git commit -qm t", "a one>; mm mm>"},
		"a revert is its own":        {"git revert --no-edit HEAD >out; rm out", ""},
		"a commit without its files": {"git commit -q --allow-empty -m t", ""},
	}
	began := time.Now().Truncate(time.Second).Add(-time.Second / 2)
	for name, when := range map[string]struct {
		old    string // date of the commits that were there
		since  time.Time
		stored time.Time // of their objects
		made   string    // date of the commits that the tool makes, "" for now
	}{
		"years before":       {"2001-01-01T00:00:00Z", time.Date(2010, 1, 1, 0, 0, 0, 0, time.UTC), time.Time{}, ""},
		"in the same second": {began.UTC().Format(time.RFC3339), began, began.Add(-time.Second / 4), began.UTC().Format(time.RFC3339)},
		"a second later":     {began.UTC().Format(time.RFC3339), began, began.Add(-time.Second / 4), ""},
	} {
		t.Run(name, func(t *testing.T) {
			base := newRepo(t, map[string]string{"a": lines, "b": "b\n"})
			old := func(command string) {
				base.shell(command, "GIT_COMMITTER_DATE="+when.old, "GIT_AUTHOR_DATE="+when.old)
			}
			old("git commit -q --amend --no-edit --reset-author")
			old("git commit -q --allow-empty -m second")
			base.shell("git switch -q -c other; git rm -q b; echo o >only; sed s/9/nine/ a >n; mv n a; git add .")
			old("git commit -q -m other")
			base.shell("git switch -q main; echo mm >mm; sed s/1/one/ a >n; mv n a; git add .")
			old("git commit -q -m main")
			for name, tt := range tests {
				t.Run(name, func(t *testing.T) {
					r := &repo{t: t, dir: filepath.Join(t.TempDir(), "repo")}
					base.shell("cp -a . " + r.dir)
					r.open(worktree.Options{})
					head := func() string { return strings.TrimSpace(r.git("rev-parse", "HEAD")) }
					was := head()
					if !when.stored.IsZero() {
						loose, err := filepath.Glob(filepath.Join(r.dir, ".git/objects/??/*"))
						require.NoError(t, err)
						for _, name := range loose {
							require.NoError(t, os.Chtimes(name, when.stored, when.stored))
						}
					}
					if when.made == "" {
						r.shell(tt.run)
					} else {
						r.shell(tt.run, "GIT_COMMITTER_DATE="+when.made, "GIT_AUTHOR_DATE="+when.made)
					}
					came, err := r.w.CameWithHead(t.Context(), was, head(), when.since)
					require.NoError(t, err)
					content := func(v worktree.Version) string {
						if v == (worktree.Version{}) {
							return ""
						}
						return strings.Join(slices.DeleteFunc(strings.Fields(r.git("cat-file", "blob", v.OID)), func(word string) bool { return len(word) == 1 && strings.Contains(lines, word) }), " ")
					}
					var got []string
					for _, path := range slices.Sorted(maps.Keys(came)) {
						got = append(got, fmt.Sprintf("%s %s>%s", path, content(came[path].Before), content(came[path].After)))
					}
					require.Equal(t, tt.want, strings.Join(got, "; "))
				})
			}
		})
	}
}

func TestCameWithHeadOfNothing(t *testing.T) {
	r := newRepo(t, map[string]string{"a": "1\n"})
	head := strings.TrimSpace(r.git("rev-parse", "HEAD"))
	later, missing := time.Now().Add(100*24*time.Hour), strings.Repeat("1", 40)
	came, err := r.w.CameWithHead(t.Context(), "", head, later)
	require.NoError(t, err)
	require.Equal(t, []string{"README.md", "a"}, slices.Sorted(maps.Keys(came)), "all of it came to a repository without commits")
	for _, ends := range [][2]string{{"", missing}, {missing, head}, {head, missing}, {head, "--all"}, {"--all", head}, {head, head}} {
		came, err := r.w.CameWithHead(t.Context(), ends[0], ends[1], later)
		require.NoError(t, err)
		require.Empty(t, came)
	}
	came, err = r.w.CameWithHead(t.Context(), "", head, time.Unix(1, 0))
	require.NoError(t, err)
	require.Empty(t, came, "it was made since")
}
