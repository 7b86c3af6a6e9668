package mcp

import (
	"errors"
	"fmt"
)

var (
	// ErrClosed is a use of a server after its end.
	ErrClosed = errors.New("the server was ended")

	// ErrFiles means that the server's command line names files of the repository that the user has yet to
	// approve as they are.
	ErrFiles = errors.New("you have not approved the files of this repository that its command names")

	errSilent = errors.New("it did not answer in time")
	errOutput = errors.New("it closed its output")
)

// A StartError is the reason why a server failed to start or to list its tools.
type StartError struct {
	Server string
	Said   string // the end of its standard error; "" if there is none
	err    error
}

// Error returns the reason in one line.
func (e *StartError) Error() string {
	text := fmt.Sprintf("start the MCP server %s: %v", e.Server, e.err)
	if e.Said != "" {
		text += fmt.Sprintf("; it said: %q", e.Said)
	}
	return text
}

// Unwrap returns the cause.
func (e *StartError) Unwrap() error { return e.err }
