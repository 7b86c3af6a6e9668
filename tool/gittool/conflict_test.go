package gittool_test

import (
	"os/exec"
	"testing"

	"github.com/stretchr/testify/require"
)

// A conflict ends only if a resolved file is named, in any operation of git.
func TestConflictsAreKept(t *testing.T) {
	for name, begin := range map[string][]string{
		"rebase": {"rebase", "other"},
		"revert": {"revert", "--no-edit", "HEAD~1"},
		"stash":  {"stash", "pop"},
		"apply":  {"apply", "--3way", "--", "../patch"},
	} {
		t.Run(name, func(t *testing.T) {
			f := newFixture(t)
			f.write("a.txt", "1\n")
			f.write("gone.txt", "1\n")
			f.git("add", ".")
			f.git("commit", "-qm", "one")
			f.git("checkout", "-qb", "other")
			f.write("a.txt", "other\n")
			f.git("commit", "-qam", "other")
			f.write("../patch", f.git("diff", "HEAD~1", "HEAD")+"\n")
			f.git("checkout", "-q", "main")
			f.write("a.txt", "stashed\n")
			f.git("stash", "-q")
			f.write("a.txt", "mine\n")
			f.git("commit", "-qam", "mine")
			f.write("a.txt", "mine too\n")
			f.git("commit", "-qam", "mine too")
			cmd := exec.Command("git", begin...)
			cmd.Dir = f.dir
			require.Error(t, cmd.Run())
			require.Equal(t, "UU a.txt", f.git("status", "--short"))
			f.write("new.txt", "1\n")
			head := f.git("rev-parse", "HEAD")

			require.Equal(t, "a.txt has a conflict that is not resolved\n\nNothing was committed:\n  a.txt: has conflict markers\n",
				f.refused("git_commit", arguments{"message": "x", "paths": []string{"a.txt", "new.txt"}}))
			f.changed = []string{"a.txt"}
			const left = "a.txt: has a conflict: resolve it, and name it in paths"
			require.Contains(t, f.refused("git_commit", arguments{"message": "x"}), left)
			require.Equal(t, head, f.git("rev-parse", "HEAD"))
			require.Contains(t, f.git("status", "--short"), "UU a.txt")

			f.write("a.txt", "resolved\n")
			require.Contains(t, f.refused("git_commit", arguments{"message": "x"}), left)
			f.done("git_commit", arguments{"message": "x", "paths": []string{"a.txt"}})
			require.Equal(t, "resolved", f.git("show", "HEAD:a.txt"))
			require.Equal(t, "?? new.txt", f.git("status", "--short"))
		})
	}
}

// Beside a conflict other files can be committed, and it stays.
func TestConflictsBesideOtherFiles(t *testing.T) {
	f := newFixture(t)
	f.write("a.txt", "1\n")
	f.git("add", ".")
	f.git("commit", "-qm", "one")
	f.write("a.txt", "stashed\n")
	f.git("stash", "-q")
	f.write("a.txt", "mine\n")
	f.git("commit", "-qam", "mine")
	cmd := exec.Command("git", "stash", "pop")
	cmd.Dir = f.dir
	require.Error(t, cmd.Run())
	f.write("new.txt", "1\n")
	result := f.done("git_commit", arguments{"message": "x", "paths": []string{"."}})
	require.Contains(t, string(result.Content), "Not committed:\n  a.txt: has a conflict: resolve it, and name it in paths\n")
	require.Equal(t, "new.txt", f.git("show", "--format=", "--name-only", "HEAD"))
	require.Equal(t, "UU a.txt", f.git("status", "--short"))
}
