package repo

import (
	"strconv"

	"jp/conversation"
	"jp/internal/action"
	"jp/process/attach"
)

// AnswerWords are what jp answer takes for a question, for people. They are no part
// of a command: a shell would take it apart at a sign between them.
func AnswerWords(i attach.Inquiry) string {
	switch {
	case i.Kind == conversation.KindRunTool && !i.Exclusive:
		return "y, n or a"
	case i.Kind != conversation.KindToolQuestion, i.AnswerType.Type == "boolean":
		return "y or n"
	case i.AnswerType.Type == "select":
		return "1 to " + strconv.Itoa(len(i.AnswerType.Options))
	}
	return "a text"
}

// AnswerCommand is about a question, and no other one. It decides nothing: it asks
// at a terminal, and takes the answer behind it.
func AnswerCommand(i attach.Inquiry) action.Action {
	return action.AnswerEvent(i.Conversation.Short(), strconv.Itoa(i.Seq))
}
