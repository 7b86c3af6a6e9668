package worktree_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"jp/worktree"
)

func TestANamedHiddenPathAfterTheIndexChanged(t *testing.T) {
	for _, flag := range []string{"--assume-unchanged", "--skip-worktree"} {
		for _, quick := range []bool{true, false} {
			t.Run(fmt.Sprint(flag, quick), func(t *testing.T) {
				r := newRepo(t, map[string]string{"x": "1\n", "y": "1\n"})
				r.git("update-index", flag, "x")
				one := r.after(r.clean(), []string{"x"}, func() { r.write("x", "2\n") })
				require.Equal(t, []string{"M x"}, paths(one.Changes))
				r.write("y", "2\n")
				r.git("add", "y")
				parent := one.Tree
				if quick {
					parent = r.look(one.Tree).Tree
				}
				two := r.after(parent, []string{"x"}, func() { r.write("x", "3\n") })
				require.Equal(t, "3\n", r.files(two.Tree)["x"])
			})
		}
	}
}

func TestAHiddenPathThatIsGoneStaysGoneInAnotherIndex(t *testing.T) {
	r := newRepo(t, map[string]string{"x": "1\n", "y": "1\n"})
	r.git("update-index", "--assume-unchanged", "x")
	one := r.after(r.clean(), []string{"x"}, func() { r.remove("x") })
	require.Equal(t, []string{"D x"}, paths(one.Changes))
	r.write("y", "2\n")
	r.git("add", "y")
	two := r.look(one.Tree)
	require.Equal(t, []string{"M y"}, paths(two.Changes))
}

func TestWhatWasRecordedIsNotNewAgain(t *testing.T) {
	r := newRepo(t, map[string]string{"a": "1\n", "b": "1\n", "c": "1\n"})
	tree := r.clean()
	r.open(worktree.Options{NewContent: 100})
	s := r.after(tree, nil, func() { r.write("a", strings.Repeat("a", 90)) })
	s = r.after(s.Tree, nil, func() { r.write("b", strings.Repeat("b", 90)) })
	s = r.after(s.Tree, nil, func() { r.write("c", "2\n") })
	require.Equal(t, []string{"M c"}, paths(s.Changes))
	require.Empty(t, s.LeftOut)
	s = r.after(s.Tree, nil, func() { r.write("b", strings.Repeat("c", 90)) })
	require.Equal(t, []string{"M b"}, paths(s.Changes))
}

func TestMuchWasRecordedBefore(t *testing.T) {
	r := newRepo(t, map[string]string{"a": "1\n", "b": "1\n", "c": "1\n"})
	s := worktree.Snapshot{Tree: r.clean()}
	for _, name := range []string{"a", "b"} {
		r.write(name, strings.Repeat("a", 30<<20)+"\n")
		taken, ok, err := r.w.SnapshotPaths(t.Context(), s.Tree, []string{name}, reader{r.dir})
		require.NoError(t, err)
		require.True(t, ok)
		r.store(taken.Objects)
		s = taken
	}
	s = r.after(s.Tree, nil, func() { r.write("b", "small\n"+strings.Repeat("b", 30<<20)) })
	require.Empty(t, s.LeftOut)
	require.Equal(t, []string{"M b"}, paths(s.Changes))
}

func TestTheModeIsTheOneRecorded(t *testing.T) {
	r := newRepo(t, map[string]string{"x": "1\n", "y": "1\n"})
	r.git("config", "core.fileMode", "false")
	r.git("update-index", "--chmod=+x", "x")
	r.git("commit", "-qm", "x")
	s := r.after(r.clean(), nil, func() { r.remove("x") })
	s = r.after(s.Tree, nil, func() { r.write("x", "2\n") })
	require.Equal(t, "2\n", r.files(s.Tree)["x"])
	s = r.after(s.Tree, nil, func() {
		for i := range 70 {
			r.write(fmt.Sprintf("many/%d", i), "x")
		}
	})
	require.Len(t, s.Changes, 70, "%v", s.Changes)
}

// git stores a file by its entry in the index: here the tree's entry counts.
func TestLineEndsAreThoseRecorded(t *testing.T) {
	r := newRepo(t, map[string]string{"x": "1\r\n"})
	r.git("config", "core.autocrlf", "input")
	s := r.after(r.clean(), nil, func() { r.write("x", "1\n") })
	s = r.after(s.Tree, nil, func() { r.write("x", "2\r\n") })
	require.Equal(t, "2\n", r.files(s.Tree)["x"])
}
