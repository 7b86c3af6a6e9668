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
	// ErrNotHolder reports that a process is not proven to hold the conversation. It was not signalled.
	ErrNotHolder = errors.New("the process is not known to hold the conversation, and was left alone")
	// ErrNotOurs says that others could have made or changed a file or folder.
	ErrNotOurs = errors.New("not yours alone")
	// ErrBadEntry reports a file of the registry that is not an entry.
	ErrBadEntry = errors.New("not an entry of the registry")
	// ErrPeer reports that another user, or an unknown one, is at the other end of a socket.
	ErrPeer = errors.New("the other end of the socket is not known to be yours")
	// ErrPathTooLong reports that the path of a socket is too long for the system.
	ErrPathTooLong = errors.New("the path is too long for a socket")
)

// A LockedError names the holder.
type LockedError struct {
	ID     conversation.ID
	Holder Holder
}

// Error names the conversation and the holder.
func (e *LockedError) Error() string {
	return fmt.Sprintf("conversation %s is locked by %s", e.ID, e.Holder.Name())
}

// Unwrap gives ErrLocked.
func (e *LockedError) Unwrap() error { return ErrLocked }
