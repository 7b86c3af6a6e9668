package gittool_test

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// The tools leave the user's staging alone: it stays staged, and out of the commit.
func TestStagingOfTheUserIsKept(t *testing.T) {
	f := newFixture(t)
	f.write("mine.txt", "1\n")
	f.write("both.txt", "1\n2\n3\n4\n5\n6\n7\n")
	f.git("add", ".")
	f.git("commit", "-qm", "two")
	f.write("other.txt", "staged\n")
	f.git("add", "other.txt")
	f.write("n.txt", "new\n")
	f.write("mine.txt", "by hand\n")
	f.changed = []string{"n.txt", "gone-again.txt"}

	result := f.done("git_commit", arguments{"message": "x"})
	require.Equal(t, "n.txt", f.git("show", "--format=", "--name-only", "HEAD"))
	require.Equal(t, " M mine.txt\nA  other.txt", f.git("status", "--short"))
	require.Contains(t, string(result.Content), "Still staged, and not committed: other.txt.\n")

	f.changed = []string{"other.txt", "mine.txt"}
	f.done("git_commit", arguments{"message": "what the user staged, and the tool wrote"})
	require.Equal(t, "mine.txt\nother.txt", f.git("show", "--format=", "--name-only", "HEAD"))
}

// A partly staged file is only taken as a whole if it is named.
func TestStagedPartOfAFile(t *testing.T) {
	f := newFixture(t)
	f.write("both.txt", "1\n2\n")
	f.git("add", ".")
	f.git("commit", "-qm", "two")
	f.write("both.txt", "1 staged\n2\n")
	f.git("add", "both.txt")
	f.write("both.txt", "1 staged\n2 not\n")
	f.changed = []string{"both.txt"}
	head := f.git("rev-parse", "HEAD")
	require.Contains(t, f.refused("git_commit", arguments{"message": "x"}), "the user has staged a part of both.txt: name the files in paths")
	require.Equal(t, head, f.git("rev-parse", "HEAD"))
	require.Equal(t, "MM both.txt", f.git("status", "--short"))

	f.done("git_commit", arguments{"message": "x", "staged": true})
	require.Equal(t, "1 staged\n2", f.git("show", "HEAD:both.txt"))
	require.Equal(t, " M both.txt", f.git("status", "--short"))

	f.done("git_commit", arguments{"message": "x", "paths": []string{"both.txt"}})
	require.Empty(t, f.git("status", "--short"))
	require.Contains(t, f.refused("git_commit", arguments{"message": "x", "paths": []string{"both.txt"}, "staged": true}), "give one of them")
}

func TestWhatToolsChangedInEachWay(t *testing.T) {
	f := newFixture(t)
	f.write("old name", "1\n")
	f.write("deleted", "1\n")
	f.git("add", ".")
	f.git("commit", "-qm", "two")
	f.git("mv", "old name", "new name")
	f.git("rm", "-q", "deleted")
	f.write("*.txt", "a literal name\n")
	f.write("a.txt", "not the tools'\n")
	f.write("large", "in no snapshot\n")
	f.changed, f.unrecorded = []string{"old name", "new name", "deleted", "*.txt", "README.md"}, []string{"large"}
	result := f.done("git_commit", arguments{"message": "x"})
	require.Equal(t, "*.txt\ndeleted\nnew name\nold name", f.git("show", "--format=", "--no-renames", "--name-only", "HEAD"))
	require.Equal(t, "?? a.txt\n?? large", f.git("status", "--short"))
	require.Contains(t, string(result.Content), "large: is new, and in no snapshot")
}
