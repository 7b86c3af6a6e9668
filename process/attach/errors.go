package attach

import (
	"errors"
	"fmt"
)

// Faults of the other side.
var (
	ErrTooLong = errors.New("a message is longer than 1 MiB")
	ErrGarbled = errors.New("invalid message")
	ErrGone    = errors.New("the other side is gone")
	ErrGap     = errors.New("events are missing")
)

// ErrEnding reports that the turn has no further boundary at which it could read a message.
var ErrEnding = errors.New("the turn is ending")

// The messages to peers about requests without effect.
var (
	errNoInterrupt = errors.New("there is nothing to interrupt")
	errNoMessage   = errors.New("this process takes no messages")
	errNotWaiting  = errors.New("this question does not wait for an answer")
	errAnswered    = errors.New("another user answered first")
)

// A VersionError says that the other side speaks another version.
type VersionError struct{ Theirs int }

// Error names both versions.
func (e *VersionError) Error() string {
	return fmt.Sprintf("the process speaks version %d of the attach protocol, this jp version %d", e.Theirs, Version)
}

func (e *VersionError) reason() string {
	return fmt.Sprintf("this process speaks version %d of the attach protocol, the client version %d", Version, e.Theirs)
}

// A RefusedError is [ErrGone] with the process's message in the place of hello.
type RefusedError struct{ Closing }

// Error gives the reason.
func (e *RefusedError) Error() string { return e.Reason }

// Unwrap gives ErrGone.
func (e *RefusedError) Unwrap() error { return ErrGone }
