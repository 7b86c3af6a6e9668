package hooks

import "errors"

// Reasons why a hook has no decision.
var (
	// ErrDecision reports that a hook's output is no decision.
	ErrDecision = errors.New("no decision")
	// ErrTimeout says that a hook took longer than it may. It was ended.
	ErrTimeout = errors.New("time is up")
	// ErrStatus reports that a hook ended by itself, but with a failure.
	ErrStatus = errors.New("ended with an error")
)
