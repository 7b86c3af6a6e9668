package conversation

import (
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// A valid id can be a part of a ref and of a path, everywhere.
func FuzzParseID(f *testing.F) {
	for _, s := range []string{"jp-c17528832001-k3f9", "jp-c1752883200", "jp-c1752883200-K3F9", "jp-c1752883200\n", "../x", "jp-c17528832001-k3f9.lock", ""} {
		f.Add(s)
	}
	harmless := regexp.MustCompile(`\A[a-z0-9-]{14,22}\z`)
	f.Fuzz(func(t *testing.T, s string) {
		id, err := ParseID(s)
		if err != nil {
			require.ErrorIs(t, err, ErrBadID)
			require.Empty(t, id)
			return
		}
		require.Equal(t, s, string(id))
		require.Regexp(t, harmless, s)
		require.True(t, filepath.IsLocal(s) && filepath.Base(s) == s)
		require.False(t, strings.HasPrefix(s, "-") || strings.HasSuffix(s, "-"))
		require.False(t, id.Created().IsZero())
		require.NotEmpty(t, id.Short())
		require.True(t, strings.HasSuffix(s, id.Short()))
	})
}
