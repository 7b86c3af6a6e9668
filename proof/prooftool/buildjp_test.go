package prooftool_test

import (
	"debug/buildinfo"
	"os"
	"path/filepath"
	"runtime/debug"
	"testing"

	"github.com/stretchr/testify/require"

	"jp/proof/prooftool"
)

func TestBuildJP(t *testing.T) {
	path := filepath.Join(t.TempDir(), "jp")
	require.NoError(t, prooftool.BuildJP(t.Context(), path, os.Environ()))
	info, err := buildinfo.ReadFile(path)
	require.NoError(t, err)
	require.Equal(t, "jp/cmd/jp", info.Path)
	require.Contains(t, info.Settings, debug.BuildSetting{Key: "CGO_ENABLED", Value: "0"})
}

func TestBuildJPSaysWhy(t *testing.T) {
	home := t.TempDir()
	telemetry := filepath.Join(home, ".config", "go", "telemetry") // go would go on writing there after it has ended
	require.NoError(t, os.MkdirAll(telemetry, 0o755))
	require.NoError(t, os.WriteFile(filepath.Join(telemetry, "mode"), []byte("off"), 0o644))
	err := prooftool.BuildJP(t.Context(), filepath.Join(t.TempDir(), "jp"), []string{"PATH=" + os.Getenv("PATH"), "HOME=" + home, "GOFLAGS=-no-such-flag"})
	require.ErrorContains(t, err, "build jp: ")
	require.ErrorContains(t, err, "no-such-flag")
}
