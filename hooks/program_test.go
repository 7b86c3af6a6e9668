package hooks

import (
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"
)

// A program that cannot be started fails the check, and a run.
func TestCheckProgram(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(dir, "plain"), []byte("#!/bin/sh\ntouch ran\n"), 0o644))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "good"), []byte("#!/bin/sh\n:\n"), 0o755))
	for program, want := range map[string]error{
		"./plain": ErrNotExecutable, "./none": fs.ErrNotExist, "./": unix.EISDIR, "there-is-no-such-program": exec.ErrNotFound,
		"./good": nil, filepath.Join(dir, "plain"): ErrNotExecutable, "sh": nil,
	} {
		err := CheckProgram([]string{program}, dir)
		require.ErrorIs(t, err, want, program)
		if want == nil {
			continue
		}
		_, _, err = New(map[Point][]string{TurnEnd: {program}}, Options{Dir: dir}).Run(t.Context(), Input{Point: TurnEnd})
		var failed *ProgramError
		require.ErrorAs(t, err, &failed, program)
		require.ErrorIs(t, err, want, program)
	}
	require.NoFileExists(t, filepath.Join(dir, "ran"))
}
