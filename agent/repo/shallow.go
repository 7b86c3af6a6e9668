package repo

import (
	"jp/agent/problem"
	"jp/conversation"
	"jp/internal/action"
)

// Partial is the error of a partly fetched conversation, with the command that fetches the rest.
func Partial(of conversation.Info) *problem.Error {
	return problem.New(problem.ExitNotFound, "not_found", "%s is incomplete here, and not damaged: older events were not fetched.", of.Name()).About(of.ID).
		Hint(Unshallow(of.Remote), "brings them")
}

// Unshallow fetches the missing commits of a shallow clone. remote is "" for git's choice.
func Unshallow(remote string) action.Action {
	if remote == "" {
		return action.Unshallow()
	}
	return action.Unshallow(remote)
}
