package repo

import (
	"slices"
	"strconv"
	"strings"

	"jp/conversation"
	"jp/internal/action"
	"jp/process/attach"
)

// AnswerWords are the words that jp answer takes for a question, for people. They stay out of commands, since
// a shell would split them at the signs between them.
func AnswerWords(i attach.Inquiry) string {
	switch {
	case i.Kind == conversation.KindRunTool:
		words := []string{"y", "n"}
		if !i.Exclusive {
			words = append(words, "a")
		}
		if slices.ContainsFunc(i.AnswerType.Options, func(o conversation.Option) bool {
			return string(o.Value) == strconv.Quote(conversation.AnswerRunNetwork)
		}) {
			words = append(words, "network")
		}
		last := len(words) - 1
		return strings.Join(words[:last], ", ") + " or " + words[last]
	case i.Kind != conversation.KindToolQuestion, i.AnswerType.Type == "boolean":
		return "y or n"
	case i.AnswerType.Type == "select":
		return "1 to " + strconv.Itoa(len(i.AnswerType.Options))
	}
	return "a text"
}

// AnswerCommand is about one question. The command leaves the decision open: it asks at a terminal, and takes
// the answer behind it.
func AnswerCommand(i attach.Inquiry) action.Action {
	return action.AnswerEvent(i.Conversation.Short(), strconv.Itoa(i.Seq))
}
