package main

import (
	"io"
	"os"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// TestNobodyWaitsForTheBackground reads a pipe that a caller had open beside the standard streams. The
// pipe ends with the command, before the turn does.
func TestNobodyWaitsForTheBackground(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	p.write("../background.toml", overwriteScript)
	r, w, err := os.Pipe()
	require.NoError(t, err)
	defer r.Close()
	cmd := p.command("query", "--detach", "-m", "script/../background.toml", "Do it")
	for range 7 { // jp replaces the first ones with its own
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
