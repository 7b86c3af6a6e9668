package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// Ctrl+C is the agent's, also a later one. Ctrl+Z stops it and jp record. fg continues both, and the agent has the terminal.
func TestRecordKeys(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	program, err := filepath.Abs("testdata/waits/claude")
	require.NoError(t, err)
	p.environ = append(p.environ, sharesVariable+"=1", "PS1=shell> ", "ENV=", "PATH="+filepath.Dir(program)+":"+os.Getenv("PATH"))
	s := p.sitWith(80, exec.Command("sh", "-i"))
	s.WaitFor("shell>")
	s.Type("jp record claude\r")
	s.WaitFor("started")
	for n, began := 1, time.Now(); time.Since(began) < 2*oneInterrupt; n++ {
		s.Type("\x03")
		s.WaitForEnd(fmt.Sprint("^Cinterrupted ", n))
	}
	s.Type("\x1a")
	s.WaitForEnd("shell>")
	for _, with := range []string{"record\x00claude", "claude-waits"} {
		pids := p.processes(with)
		require.Len(t, pids, 1)
		state, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pids[0]))
		require.NoError(t, err)
		require.Contains(t, string(state), ") T ")
	}
	s.Type("fg\r")
	s.Type("words\r")
	s.WaitFor("got words")
	s.Type("echo code $?\r")
	s.WaitFor("code 7")
	require.Empty(t, p.processes("claude"))
	s.Type("exit\r")
	require.Zero(t, s.exit())
}
