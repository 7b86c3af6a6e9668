package process

import (
	"errors"
	"fmt"

	"jp/conversation"
)

var (
	// ErrLocked says that another process holds the conversation.
	ErrLocked = errors.New("the conversation is locked")
	// ErrToolAlive says that a tool of an earlier run still runs.
	ErrToolAlive = errors.New("a tool of an earlier run is still alive")
	// ErrNotHolder says that it cannot be shown that a process holds the
	// conversation. It was not signalled.
	ErrNotHolder = errors.New("the process is not known to hold the conversation, and was left alone")
)

// A LockedError names the holder.
type LockedError struct {
	ID     conversation.ID
	Holder Holder
}

// Error names the conversation and the holder.
func (e *LockedError) Error() string {
	return fmt.Sprintf("conversation %s is locked by pid %d", e.ID, e.Holder.PID)
}

// Unwrap gives ErrLocked.
func (e *LockedError) Unwrap() error { return ErrLocked }
