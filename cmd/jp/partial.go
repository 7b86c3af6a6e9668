package main

import (
	"jp/conversation"
	"jp/internal/safetext"
)

// partial says that not all of a conversation was fetched, and how the rest is.
func partial(of conversation.Info) *failure {
	return fail(exitNotFound, "not_found", "%s is incomplete here, and not damaged: older events were not fetched.", of.Name()).about(of.ID).
		hint(unshallow(of.Remote), "brings them")
}

// unshallow fetches what a shallow clone lacks; remote is "" for git's choice.
func unshallow(remote string) string {
	if remote == "" {
		return "git fetch --unshallow"
	}
	return "git fetch --unshallow " + safetext.Escape(remote)
}
