package repo

import (
	"jp/agent/problem"
	"jp/conversation"
	"jp/internal/action"
)

// Partial says that not all of a conversation was fetched, and how the rest is.
func Partial(of conversation.Info) *problem.Error {
	return problem.New(problem.ExitNotFound, "not_found", "%s is incomplete here, and not damaged: older events were not fetched.", of.Name()).About(of.ID).
		Hint(Unshallow(of.Remote), "brings them")
}

// Unshallow fetches what a shallow clone lacks; remote is "" for git's choice.
func Unshallow(remote string) action.Action {
	if remote == "" {
		return action.Unshallow()
	}
	return action.Unshallow(remote)
}
