package main

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"jp/config"
)

// What a kill has left of an earlier jp init is in nobody's way.
func TestInitAfterAKill(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	half := filepath.Join(p.dir, ".jp/.config.toml.new")
	p.write(".jp/.config.toml.new", "half")
	require.Zero(t, p.jp("init").exit)
	text, err := os.ReadFile(filepath.Join(p.dir, config.WorkspaceFile))
	require.NoError(t, err)
	require.Equal(t, string(config.Template()), string(text))
	require.NoFileExists(t, half)
	p.write(config.WorkspaceFile, "# mine\n")
	require.Equal(t, 2, p.jp("init").exit)
	text, err = os.ReadFile(filepath.Join(p.dir, config.WorkspaceFile))
	require.NoError(t, err)
	require.Equal(t, "# mine\n", string(text))
}
