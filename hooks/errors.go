package hooks

import "errors"

// Why a hook came to nothing.
var (
	// ErrDecision says that what a hook wrote is no decision.
	ErrDecision = errors.New("no decision")
	// ErrTimeout says that a hook took longer than it may. It was ended.
	ErrTimeout = errors.New("time is up")
	// ErrStatus says that a hook ended by itself, but not well.
	ErrStatus = errors.New("ended with an error")
)
