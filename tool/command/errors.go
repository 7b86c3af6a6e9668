package command

import "errors"

// ErrNoProgram is a tool without a command to run.
var ErrNoProgram = errors.New("its command names no program")
