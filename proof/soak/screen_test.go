package main

import (
	"testing"

	"github.com/creack/pty"
	"github.com/stretchr/testify/require"
)

func needsTerminals(t *testing.T) {
	t.Helper()
	master, tty, err := pty.Open()
	if err != nil {
		// A container without /dev/pts has none.
		t.Skip("no pseudo-terminal here: ", err)
	}
	master.Close()
	tty.Close()
}

func TestAScreenIsAnswered(t *testing.T) {
	needsTerminals(t)
	s := played(t, `printf 'Run it?\n> '; read -r key; exit 7`)
	var took timings
	c, err := s.attach(t.Context(), &runner{id: testID}, &took)
	require.NoError(t, err)
	require.Len(t, took.all(), 1)
	require.True(t, c.shows(asks))
	require.NoError(t, c.press("y\n"))
	require.Equal(t, 7, c.exit())
	require.Contains(t, c.end(), "Run it?")
}

func TestAScreenThatDoesNotAsk(t *testing.T) {
	needsTerminals(t)
	s := played(t, `echo "> and more"`)
	err := s.answerAttached(t.Context(), &runner{id: testID})
	require.ErrorContains(t, err, "it does not ask")
	s = played(t, "exit 0")
	_, err = s.attach(t.Context(), &runner{id: testID}, nil)
	require.ErrorContains(t, err, "shows nothing")
}

func TestAScreenIsKilled(t *testing.T) {
	needsTerminals(t)
	s := played(t, "echo here; exec sleep 100")
	c, err := s.attach(t.Context(), &runner{id: testID}, nil)
	require.NoError(t, err)
	c.kill()
	require.Equal(t, -1, c.cmd.ProcessState.ExitCode())
}

func TestAScreenIsLeftAtTheSecondKey(t *testing.T) {
	needsTerminals(t)
	s := played(t, `trap 'trap "exit 5" QUIT' QUIT; echo here; while :; do read -r key; done`)
	c, err := s.attach(t.Context(), &runner{id: testID}, nil)
	require.NoError(t, err)
	require.Equal(t, 5, c.leave())
}
