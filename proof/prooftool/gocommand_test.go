package prooftool_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"jp/proof/prooftool"
)

// An interrupted build leaves no files in the folder for temporary files.
func TestAnInterruptedBuildLeavesNothing(t *testing.T) {
	dir, temporary := t.TempDir(), t.TempDir()
	for name, text := range map[string]string{"go.mod": "module x\n\ngo 1.26\n", "x.go": "package main\n\nfunc main() {}\n"} {
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600))
	}
	ctx, cancel := context.WithCancelCause(t.Context())
	defer cancel(nil)
	cmd := prooftool.GoCommand(ctx, "build", "-a", "-o", filepath.Join(dir, "x"), ".") // all of it, anew
	t.Setenv("TMPDIR", temporary)
	cmd.Dir, cmd.Env = dir, append(os.Environ(), "GOFLAGS=")
	why := errors.New("enough")
	ended := make(chan error, 1)
	go func() { ended <- prooftool.Build(ctx, cmd) }()
	require.Eventually(t, func() bool {
		found, _ := filepath.Glob(filepath.Join(temporary, "*", "go-build*", "*"))
		return len(found) > 0
	}, 30e9, 1e6)
	cancel(why)
	require.ErrorIs(t, <-ended, why)
	left, err := os.ReadDir(temporary)
	require.NoError(t, err)
	require.Empty(t, left)
}

func TestBuildSaysWhatWasSaid(t *testing.T) {
	cmd := prooftool.GoCommand(t.Context(), "build", "-no-such-flag")
	require.ErrorContains(t, prooftool.Build(t.Context(), cmd), "no-such-flag")
}
