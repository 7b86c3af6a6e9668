package gitcmd_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"jp/gitcmd"
)

func TestVersion(t *testing.T) {
	for name, tt := range map[string]struct {
		prints, version string
		err             error
	}{
		"new":          {"git version 2.47.1", "2.47.1", nil},
		"the oldest":   {"git version 2.36.0", "2.36.0", nil},
		"too old":      {"git version 2.35.9", "2.35.9", gitcmd.ErrGitTooOld},
		"with a maker": {"git version 2.39.5 (Apple Git-154)", "2.39.5 (Apple Git-154)", nil},
	} {
		t.Run(name, func(t *testing.T) {
			program := filepath.Join(t.TempDir(), "git")
			require.NoError(t, os.WriteFile(program, []byte("#!/bin/sh\necho '"+tt.prints+"'\n"), 0o777))
			version, err := gitcmd.Version(t.Context(), gitcmd.Options{Program: program})
			require.ErrorIs(t, err, tt.err)
			require.Equal(t, tt.version, version)
		})
	}
	_, err := gitcmd.Version(t.Context(), gitcmd.Options{Program: filepath.Join(t.TempDir(), "git")})
	require.ErrorIs(t, err, gitcmd.ErrGitMissing)
}
