package terminal

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"jp/internal/testing/terminaltest"
)

// Keys typed while the echo is off are not shown, and the next reader gets them.
func TestEchoOff(t *testing.T) {
	s := terminaltest.New(t, 80, 24)
	mode := func() uint64 {
		m, err := unix.IoctlGetTermios(int(s.TTY.Fd()), getMode)
		require.NoError(t, err)
		return uint64(m.Lflag) & (unix.ECHO | unix.ICANON | unix.ISIG)
	}
	before := mode()
	e := NewEcho(s.TTY)
	e.On()
	require.Equal(t, before, mode(), "it was on")
	e.Off()
	e.Off()
	require.Equal(t, before&^unix.ECHO, mode(), "lines and Ctrl+C stay")
	s.Type("hidden\n")
	buf := make([]byte, 100)
	n, err := s.TTY.Read(buf)
	require.NoError(t, err)
	require.Equal(t, "hidden\n", string(buf[:n]))
	require.NotContains(t, s.Raw(), "hidden")
	e.On()
	require.Equal(t, before, mode())
	s.Type("shown")
	s.WaitFor("shown")
}

// A question brings back the mode that it found. If the turn ends meanwhile, the end of jp shows keys again.
func TestEchoBesideAQuestion(t *testing.T) {
	s := terminaltest.New(t, 80, 24)
	tty := NewTTY(s.TTY)
	lines := func() bool {
		m, err := unix.IoctlGetTermios(tty.fd(), getMode)
		require.NoError(t, err)
		return m.Lflag&(unix.ICANON|unix.ECHO) == unix.ICANON|unix.ECHO
	}
	e := NewEcho(s.TTY)
	e.Off()
	k, err := tty.Keyboard(t.Context())
	require.NoError(t, err)
	e.Off() // a program that reads keys one by one decides itself
	e.On()
	require.NoError(t, k.Close())
	require.False(t, lines())
	e.On()
	require.True(t, lines())
}

func TestEchoOfNoTerminal(t *testing.T) {
	var none *Echo
	none.Off()
	none.On()
	s := terminaltest.New(t, 80, 24)
	e := NewEcho(s.TTY)
	e.Off()
	s.Hangup()
	done := make(chan bool)
	go func() { e.On(); close(done) }()
	select {
	case <-done:
	case <-time.After(time.Minute):
		t.Fatal(strings.TrimSpace("a terminal that is gone is waited for"))
	}
}
