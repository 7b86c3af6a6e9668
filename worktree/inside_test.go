package worktree_test

import (
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"jp/internal/testing/gitenv"
	"jp/worktree"
)

// A tool's changes to files of a repository within the working tree are reported without being recorded;
// its changes elsewhere are not reported of them.
func TestChangedInsideOtherRepositories(t *testing.T) {
	const sub, nested = "sub: changed inside the submodule", "nest: changed inside another repository"
	tests := map[string]struct {
		run  string
		want []string
	}{
		"nothing":                 {"true", nil},
		"beside them":             {"echo x >>a", nil},
		"both are looked at":      {"cat sub/f sub/d/g nest/n; git -C sub status; git -C nest status", nil},
		"a file":                  {"echo x >>sub/f", []string{sub}},
		"in a folder":             {"echo x >>sub/d/g", []string{sub}},
		"of the same size":        {"printf X >sub/f", []string{sub}},
		"a new file":              {"echo x >sub/d/new", []string{sub}},
		"deleted":                 {"rm sub/f", []string{sub}},
		"deleted in a folder":     {"rm sub/d/g", []string{sub}},
		"the last ones":           {"rm -r sub/f sub/d", []string{sub}},
		"its mode":                {"chmod +x sub/f", []string{sub}},
		"renamed":                 {"mv sub/f sub/e", []string{sub}},
		"staged in it":            {"echo x >>sub/f; git -C sub add f", []string{sub}},
		"checked out in it":       {"git -C sub checkout -q other", nil},
		"and written":             {"git -C sub checkout -q other; echo x >>sub/d/g", []string{sub}},
		"committed in it":         {"echo x >>sub/f; git -C sub commit -qam x", nil},
		"the nested one":          {"echo x >>nest/n", []string{nested}},
		"its only file, deleted":  {"rm nest/n", []string{nested}},
		"both":                    {"echo x >>sub/f; echo x >>nest/n", []string{nested, sub}},
		"a new one without files": {"git init -q new", nil},
		"a new one":               {"git init -q new; echo x >new/x", []string{"new: changed inside another repository"}},
	}
	inner := gitenv.Repo(t)
	base := newRepo(t, map[string]string{"a": "a\n"})
	base.shell("cd " + inner + " && git rm -q README.md && mkdir d && printf f >f && echo g >d/g && git add . && git commit -qm f && git branch other HEAD && git switch -q other && echo o >>f && git commit -qam o && git switch -q main")
	base.git("submodule", "--quiet", "add", inner, "sub")
	base.git("commit", "-qm", "sub")
	base.shell("git -C sub branch other origin/other; git init -q nest; echo n >nest/n")
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			r := &repo{t: t, dir: filepath.Join(t.TempDir(), "repo")}
			base.shell("cp -a . " + r.dir)
			r.open(worktree.Options{})
			before, copied := r.head(), r.mark()
			mark := r.mark()
			for *mark == *copied { // the file system counts on
				mark = r.mark()
			}
			others, err := r.w.FindUntracked(t.Context(), nil)
			require.NoError(t, err)
			r.shell(tt.run)
			s, err := r.w.Snapshot(t.Context(), before, worktree.SnapshotOptions{Since: mark, Untracked: true, ListUntracked: others})
			require.NoError(t, err)
			var got []string
			for _, l := range s.LeftOut {
				got = append(got, l.Path+": "+l.Why)
			}
			require.Equal(t, tt.want, got)
		})
	}
}
