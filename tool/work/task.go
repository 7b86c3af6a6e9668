package work

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"jp/conversation"
	"jp/tool"
)

// subjectLength is how many characters of a task a subject keeps.
const subjectLength = 200

type delegateArguments struct {
	Task   string   `json:"task"`
	Tools  []string `json:"tools"`
	Model  string   `json:"model"`
	Budget int      `json:"budget"`
}

// taskOf is the task of a call. Its budget is at most the rest of the parent's.
func taskOf(call tool.Call) (Task, error) {
	var args delegateArguments
	if err := json.Unmarshal(call.Arguments, &args); err != nil {
		return Task{}, fmt.Errorf("read the arguments of delegate: %w", err)
	}
	switch {
	case strings.TrimSpace(args.Task) == "":
		return Task{}, errors.New("the task is empty")
	case slices.Contains(args.Tools, DelegateName):
		return Task{}, errors.New("a delegate cannot delegate: leave that tool out")
	case call.Child == "":
		return Task{}, errors.New("there is no conversation for it to work in")
	}
	if args.Budget == 0 || call.Budget > 0 && call.Budget < args.Budget {
		args.Budget = call.Budget
	}
	return Task{
		Child: call.Child, Attempt: call.Attempt, Text: args.Task, Tools: args.Tools, Model: args.Model, Budget: args.Budget,
	}, nil
}

// delegateError is the result of an invalid call.
func delegateError(err error) tool.Result {
	return tool.Result{Content: []byte("Nothing was delegated: " + err.Error()), IsError: true, WrittenFiles: []string{}}
}

// delegateSubject is the task's first line.
func delegateSubject(raw json.RawMessage) string {
	var args delegateArguments
	if json.Unmarshal(raw, &args) != nil {
		return ""
	}
	first, _, _ := strings.Cut(strings.TrimSpace(args.Task), "\n")
	return conversation.Shorten(strings.TrimSpace(first), subjectLength)
}
