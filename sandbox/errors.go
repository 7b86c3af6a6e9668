package sandbox

import "errors"

// ErrUnsupported is wrapped by the error of a start if this system cannot confine a program.
var ErrUnsupported = errors.New("programs cannot be confined here")

// ErrSecondName is wrapped if a hidden file has another name, by which programs could read it.
var ErrSecondName = errors.New("a hidden file has another name")
