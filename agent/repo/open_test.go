package repo

import (
	"os"
	"path/filepath"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"jp/gitcmd"
)

// repoOf is a repository as far as its folders go.
func repoOf(found gitcmd.Repository) *Repo {
	return &Repo{At: found, Git: gitcmd.At(found, gitcmd.Options{})}
}

func TestWorkspaceIDIsOne(t *testing.T) {
	r := repoOf(gitcmd.Repository{CommonDir: t.TempDir()})
	ids := make([]string, 8)
	var all sync.WaitGroup
	for i := range ids {
		all.Go(func() { ids[i], _ = r.Standings().WorkspaceID() })
	}
	all.Wait()
	require.Regexp(t, `^[a-z2-7]{8}$`, ids[0])
	for _, id := range ids {
		require.Equal(t, ids[0], id)
	}
	files, err := os.ReadDir(filepath.Join(r.At.CommonDir, "jp"))
	require.NoError(t, err)
	require.Len(t, files, 1, "nothing else is left")
}

func TestWorkspaceIDOfACutOffFile(t *testing.T) {
	r := repoOf(gitcmd.Repository{CommonDir: t.TempDir()})
	path := filepath.Join(r.At.CommonDir, "jp", "workspace-id")
	require.NoError(t, os.Mkdir(filepath.Dir(path), 0o777))
	require.NoError(t, os.WriteFile(path, nil, 0o666))
	first, err := r.Standings().WorkspaceID()
	require.NoError(t, err)
	require.Len(t, first, 8)
	again, err := r.Standings().WorkspaceID()
	require.NoError(t, err)
	require.Equal(t, first, again)
}
