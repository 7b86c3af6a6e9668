package leftover

import "errors"

// Why a file stays. Remove wraps one of them.
var (
	// ErrYoung says that a file was written less than an hour ago.
	ErrYoung = errors.New("it was written less than an hour ago")
	// ErrInUse says that a process has it, or the lock under which it was made.
	ErrInUse = errors.New("it is in use")
	// ErrUnknown reports that the system does not tell whether a process has the file.
	ErrUnknown = errors.New("it cannot be told whether a process has it open")
	// ErrNotOurs says that it is another user's.
	ErrNotOurs = errors.New("it belongs to another user")
	// ErrChanged reports that the file differs from the one that was found.
	ErrChanged = errors.New("it has changed meanwhile")
	// ErrTracked says that git tracks it.
	ErrTracked = errors.New("git tracks it")
	// ErrKind says that only a person can decide about it.
	ErrKind = errors.New("only you can tell whether it is needed")
)
