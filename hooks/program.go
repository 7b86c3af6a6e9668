package hooks

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"

	"golang.org/x/sys/unix"
)

// A ProgramError reports why the program of a hook cannot be started.
type ProgramError struct {
	File string // the program
	Err  error
}

// Error implements error.
func (e *ProgramError) Error() string {
	return fmt.Sprintf("%s: %v", e.File, e.Err)
}

// Unwrap returns the cause.
func (e *ProgramError) Unwrap() error { return e.Err }

// ErrNotExecutable reports that a file lacks the permission to be executed.
var ErrNotExecutable = errors.New("not executable")

// CheckProgram fails with a [*ProgramError] if the program of a hook that runs in dir cannot be started. It
// only looks.
func CheckProgram(argv []string, dir string) error {
	_, err := command(argv, dir)
	return err
}

// command prepares the program of a hook that runs in dir.
func command(argv []string, dir string) (*exec.Cmd, error) {
	cmd := exec.Command(argv[0], argv[1:]...)
	cmd.Dir = dir
	if cmd.Err != nil { // PATH lacks the name
		return nil, &ProgramError{File: argv[0], Err: errors.Unwrap(cmd.Err)}
	}
	file := cmd.Path
	if !filepath.IsAbs(file) {
		file = filepath.Join(dir, file)
	}
	info, err := os.Stat(file)
	switch {
	case err != nil:
	case info.IsDir():
		err = unix.EISDIR
	case info.Mode().Perm()&0o111 == 0:
		err = ErrNotExecutable
	default:
		err = unix.Access(file, unix.X_OK)
	}
	var of *fs.PathError
	if errors.As(err, &of) {
		err = of.Err
	}
	if err != nil {
		return nil, &ProgramError{File: file, Err: err}
	}
	return cmd, nil
}
