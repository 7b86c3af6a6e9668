package sandbox

import "errors"

// ErrUnsupported is wrapped by the error of a start where this system cannot
// confine a program.
var ErrUnsupported = errors.New("programs cannot be confined here")

// ErrSecondName is wrapped where a hidden file has another name, by which it could
// be read.
var ErrSecondName = errors.New("a hidden file has another name")
