package packing

import "errors"

var (
	// ErrBusy says that another process packs in this repository.
	ErrBusy = errors.New("another process packs this repository")
	// ErrUnread says that a new pack cannot be read. The Pack has removed no file.
	ErrUnread = errors.New("the new pack cannot be read")
)
