package main

import (
	"io"
	"os"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// TestNobodyWaitsForTheBackground reads a pipe that a caller had open beside the
// standard streams: it ends with the command, and not with the turn.
func TestNobodyWaitsForTheBackground(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	p.write("../background.toml", overwriteScript)
	r, w, err := os.Pipe()
	require.NoError(t, err)
	defer r.Close()
	cmd := p.command("query", "--detach", "-m", "script/../background.toml", "Do it")
	for range 7 { // the first ones are replaced by what jp hands over itself
		cmd.ExtraFiles = append(cmd.ExtraFiles, w)
	}
	require.NoError(t, cmd.Run())
	require.NoError(t, w.Close())
	require.NoError(t, r.SetReadDeadline(time.Now().Add(time.Minute)))
	_, err = io.ReadAll(r)
	require.NoError(t, err)
	p.waits()
	require.Zero(t, p.jp("kill", "--all").exit)
}
