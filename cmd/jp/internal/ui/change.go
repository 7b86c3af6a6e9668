package ui

import (
	"jp/agent/repo"
	"jp/conversation"
)

// A Change is a command's effect on a conversation, for programs.
type Change struct {
	Action       string            `json:"action"`
	Conversation conversation.ID   `json:"conversation"`
	Files        []repo.FileResult `json:"files"` // none but those of undo and restore
}

func Changed(action string, id conversation.ID) Change {
	return Change{action, id, []repo.FileResult{}}
}
