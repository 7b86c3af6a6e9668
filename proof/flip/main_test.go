package main

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestFlip turns one condition into its opposite, in a copy.
func TestFlip(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	const source = "package p\n\nfunc f(a, b bool) int {\n\tif c := a; c || b {\n\t\treturn 1\n\t}\n\treturn 0\n}\n"
	require.NoError(t, os.WriteFile(filepath.Join(dir, "p.go"), []byte(source), 0o600))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "p_test.go"), []byte(source), 0o600))
	all, err := conditions([]string{dir})
	require.NoError(t, err)
	require.Len(t, all, 1, "tests are not flipped")
	require.Equal(t, filepath.Join(dir, "p.go")+":4", all[0].place)
	overlay, err := all[0].flip(dir)
	require.NoError(t, err)
	require.FileExists(t, overlay)
	flipped, err := os.ReadFile(filepath.Join(dir, "flipped.go"))
	require.NoError(t, err)
	require.Contains(t, string(flipped), "if c := a; !(c || b) {")
	kept, err := os.ReadFile(filepath.Join(dir, "p.go"))
	require.NoError(t, err)
	require.Equal(t, source, string(kept))
}
