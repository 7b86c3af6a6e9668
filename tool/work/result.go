package work

import (
	"encoding/json"
	"errors"
	"strings"

	"jp/conversation"
	"jp/tool"
)

// result is the text for the parent's model.
func (r Report) result(child conversation.ID) tool.Result {
	if r.None {
		return delegateError(errors.New(r.Why))
	}
	usage := r.Usage
	result := tool.Result{Content: []byte(r.Answer), WrittenFiles: r.Files}
	if usage != (conversation.Usage{}) {
		result.Usage = &usage
	}
	calls := ", " + conversation.Count(r.Calls, "call")
	if r.Why == "" {
		result.Effect = string(child) + " answered" + calls
		return result
	}
	result.IsError = true
	result.Effect = string(child) + " gave no answer" + calls
	result.Content = []byte(r.words(child))
	return result
}

// words give the reason for the missing answer, and the progress of the work.
func (r Report) words(child conversation.ID) string {
	var b strings.Builder
	b.WriteString("The delegate gave no answer: " + r.Why + ".\nIts conversation: " + string(child) + "\n")
	if r.State == nil {
		b.WriteString("It said nothing of its state.")
	} else {
		b.WriteString("What it said last of its state, as JSON: " + encodedState(r.State))
	}
	b.WriteString("\nLook at the files before you delegate the rest, or do it yourself.")
	return b.String()
}

// encodedState is a state as one line of JSON.
func encodedState(s *conversation.WorkState) string {
	text, err := json.Marshal(workState{s.Plan, s.OpenTasks, s.FilesTouched, s.Assumptions, s.Errors})
	if err == nil {
		text, err = conversation.Canonical(text)
	}
	if err != nil {
		return "{}" // strings and lists of strings always have a form
	}
	return string(text)
}
