package main

import (
	"errors"
	"os/exec"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"jp/internal/testing/gitenv"
)

// peakOrSkip is a peak, if programs may be traced.
func peakOrSkip(t *testing.T, args ...string) int64 {
	t.Helper()
	n, err := peak(t.Context(), exec.Command(args[0], args[1:]...))
	if errors.Is(err, syscall.EPERM) {
		// The peak is read while the program is stopped at its end.
		t.Skip("programs may not be traced here: ", err)
	}
	require.NoError(t, err)
	return n
}

func TestPeakIsThatOfTheProgram(t *testing.T) {
	ballast := make([]byte, 64<<20) // of the parent
	for i := range ballast {
		ballast[i] = 1
	}
	few := peakOrSkip(t, "dd", "if=/dev/zero", "of=/dev/null", "bs=4096", "count=1")
	many := peakOrSkip(t, "dd", "if=/dev/zero", "of=/dev/null", "bs=33554432", "count=1")
	require.Less(t, few, int64(16<<20))
	require.InDelta(t, 32<<20, many-few, 2<<20)
	require.Equal(t, byte(1), ballast[len(ballast)-1])
}

func TestPeakOfAProgramThatFails(t *testing.T) {
	peakOrSkip(t, "true")
	_, err := peak(t.Context(), exec.Command("sh", "-c", "echo broken >&2; exit 3"))
	require.ErrorContains(t, err, "broken")
	_, err = peak(t.Context(), exec.Command("sh", "-c", "kill -TERM $$"))
	require.ErrorContains(t, err, "ended with status")
	_, err = peak(t.Context(), exec.Command("./absent"))
	require.Error(t, err)
}

func TestPeakIn(t *testing.T) {
	n, err := peakIn("VmPeak:\t  900 kB\nVmHWM:\t  12 kB\nVmRSS:\t 8 kB\n")
	require.NoError(t, err)
	require.Equal(t, int64(12<<10), n)
	_, err = peakIn("VmRSS:\t 8 kB\n")
	require.ErrorIs(t, err, errNoPeak)
}

func TestGrowAppends(t *testing.T) {
	dir := gitenv.Repo(t)
	require.NoError(t, run(t.Context(), []string{"-grow", "20", "-dir", dir}, nil, nil))
	require.Equal(t, "20", gitenv.Git(t, dir, "rev-list", "--count", "refs/jp/conversations/"+string(conversationID(0))))
}
