package tool

import "errors"

// Errors of [NewRegistry]. They come wrapped with the name of the tool.
var (
	ErrInvalidName   = errors.New("a tool's name is a letter or _ and up to 63 letters, digits, _ or -")
	ErrDuplicate     = errors.New("two tools have this name")
	ErrInvalidSchema = errors.New("the parameters are not a valid schema of an object")
)

// ErrUnknown is a name that the registry lacks.
var ErrUnknown = errors.New("no such tool")
