package mcp

import (
	"errors"
	"fmt"
)

var (
	// ErrClosed is a use of a server after its end.
	ErrClosed = errors.New("the server was ended")

	// ErrFiles says that the user has not approved the files of the repository that a
	// server's command line names, as they are.
	ErrFiles = errors.New("you have not approved the files of this repository that its command names")

	errSilent = errors.New("it did not answer in time")
	errOutput = errors.New("it closed its output")
)

// A StartError says why a server could not be started, or did not list its tools.
type StartError struct {
	Server string
	Said   string // the end of what it wrote to its standard error; "" if nothing
	err    error
}

// Error says it in one line.
func (e *StartError) Error() string {
	text := fmt.Sprintf("start the MCP server %s: %v", e.Server, e.err)
	if e.Said != "" {
		text += fmt.Sprintf("; it said: %q", e.Said)
	}
	return text
}

// Unwrap gives the reason.
func (e *StartError) Unwrap() error { return e.err }
