package crashtest

import "errors"

// ErrUnsupported reports that programs cannot be traced here: on this system, on this processor, or because
// ptrace is forbidden.
var ErrUnsupported = errors.New("programs cannot be traced here")
