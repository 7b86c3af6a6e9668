package live

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"jp/internal/safefile"
)

// After a kill of jp, the draft is the editor's text if no other process has it, even if the repository has
// another text in its place.
func TestEditedDrafts(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		left string // in the editor's file, as jp was killed
		lock bool   // the other jp lives
		want string
	}{
		"the editor had a text": {"half a thought\n" + Scissors + "\n# x\n", false, "half a thought"},
		"it had none":           {"\n" + Scissors + "\n# x\n", false, ""},
		"it is still open":      {"half a", true, "kept before"},
	} {
		t.Run(name, func(t *testing.T) {
			own := safefile.StateDir{GitDir: t.TempDir(), Own: t.TempDir(), Key: func() ([]byte, error) { return []byte("k"), nil }}
			require.NoError(t, KeepRequest(own, "", "kept before"))
			path := editedFile(own, RequestFile(""))
			require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o700))
			require.NoError(t, os.WriteFile(path, []byte(c.left), 0o600))
			if c.lock {
				lock, err := lockEdited(path)
				require.NoError(t, err)
				defer lock.Close()
			}
			for range 2 {
				got, err := RequestDraft(own, "")
				require.NoError(t, err)
				require.Equal(t, c.want, got)
			}
			if c.lock {
				_, err := EditDraft(own, RequestFile(""), nil, nil)
				require.ErrorIs(t, err, errEditing)
				return
			}
			require.NoFileExists(t, path)
			written, err := EditDraft(own, RequestFile(""), []byte("shown"), func(path string) error {
				require.NotContains(t, path, own.GitDir)
				forged := filepath.Join(own.GitDir, "jp", "drafts", RequestFile(""))
				require.NoError(t, os.MkdirAll(filepath.Dir(forged), 0o700))
				require.NoError(t, os.WriteFile(forged, []byte("forged"), 0o600))
				return os.WriteFile(path, []byte("written"), 0o600)
			})
			require.NoError(t, err)
			require.Equal(t, "written", written)
			got, err := RequestDraft(own, "")
			require.NoError(t, err)
			require.Equal(t, "written", got)
		})
	}
}
