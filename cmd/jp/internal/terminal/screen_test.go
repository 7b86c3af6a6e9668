package terminal

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"jp/internal/testing/terminaltest"
)

func TestScreen(t *testing.T) {
	t.Parallel()
	shown := terminaltest.New(t, 20, 4)
	_, err := shown.TTY.WriteString("before\r\n")
	require.NoError(t, err)
	s := NewScreen(shown.TTY, shown.TTY)
	require.NoError(t, s.Close(), "nothing was shown")
	require.Equal(t, 4, s.Height())

	require.NoError(t, s.Draw([]string{"one long line", "two", "three", "four", "five"}))
	shown.WaitFor("four")
	require.Equal(t, "one long line\ntwo\nthree\nfour", shown.Text())
	require.NoError(t, s.Draw([]string{"1", "two"}))
	shown.Wait("fewer lines", func() bool { return shown.Text() == "1\ntwo" })
	require.False(t, s.Resized())
	require.NoError(t, s.Draw([]string{"1", "two"}))
	require.NoError(t, s.Draw([]string{"1", "2"}))
	shown.Wait("the second line", func() bool { return shown.Text() == "1\n2" })
	require.Equal(t, 3, strings.Count(shown.Raw(), "\x1b[H"), "the same is not written again")
	shown.Resize(20, 2)
	require.True(t, s.Resized())
	require.NoError(t, s.Draw([]string{"1", "2"}))
	require.False(t, s.Resized())
	require.Equal(t, 1, strings.Count(shown.Raw(), enterScreen))

	require.NoError(t, s.Close())
	require.NoError(t, s.Close())
	shown.WaitFor("before")
	require.NotContains(t, shown.Text(), "1")
	require.Equal(t, 1, strings.Count(shown.Raw(), leaveScreen))
}
