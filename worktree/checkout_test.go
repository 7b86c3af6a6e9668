package worktree_test

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestCheckedOut(t *testing.T) {
	r := newRepo(t, map[string]string{"a": "1\n"})
	head := func() string { return strings.TrimSpace(r.git("rev-parse", "HEAD")) }
	one := head()
	r.write("a", "2\n")
	r.write("b", "b\n")
	r.git("add", ".")
	r.git("commit", "-q", "-m", "two")
	two := head()
	later, earlier := time.Now().Add(100*24*time.Hour), time.Unix(1, 0)
	paths := func(from, to string, since time.Time) (paths []string) {
		steps, err := r.w.CheckedOut(t.Context(), from, to, since)
		require.NoError(t, err)
		for _, s := range steps {
			paths = append(paths, s.Path)
		}
		return paths
	}
	require.Equal(t, []string{"a", "b"}, paths(one, two, later))
	require.Equal(t, []string{"a", "b"}, paths(two, one, later))
	require.Empty(t, paths(one, two, earlier), "made since")
	require.Empty(t, paths(one, one, later))
	missing := strings.Repeat("1", 40)
	require.Empty(t, paths(missing, two, later))
	require.Empty(t, paths(one, missing, later))
	require.Empty(t, paths(one, "--all", later))
}
