package ui

import (
	"bytes"
	"io"
	"os"
	"testing"

	"github.com/creack/pty"
	"github.com/stretchr/testify/require"

	"jp/agent/repo"
)

// TestProgress sees the line come once the work takes long, and go at its end.
func TestProgress(t *testing.T) {
	t.Parallel()
	screen, tty, err := pty.Open()
	require.NoError(t, err)
	defer screen.Close()
	p := NewEnv(&repo.Host{Environ: []string{"TERM=xterm", "COLUMNS=40"}}, nil, nil, tty).Progress("Conversations searched", 7)
	p.Step()
	p.Step()
	var seen bytes.Buffer
	_, err = io.CopyN(&seen, screen, int64(len("\rConversations searched: 2 of 7")))
	require.NoError(t, err)
	require.Equal(t, "\rConversations searched: 2 of 7", seen.String())
	p.Stop()
	p.Stop()
	tty.Close()
	rest, _ := io.ReadAll(screen) // ends with an error when the other side is closed
	require.Regexp(t, `\r\x1b\[K$`, string(rest))
}

func TestNoProgress(t *testing.T) {
	t.Parallel()
	in, out, err := os.Pipe()
	require.NoError(t, err)
	p := NewEnv(&repo.Host{}, nil, nil, out).Progress("Conversations searched", 7)
	p.Step()
	p.Stop()
	out.Close()
	text, err := io.ReadAll(in)
	require.NoError(t, err)
	require.Empty(t, text, "a pipe gets none")
}
