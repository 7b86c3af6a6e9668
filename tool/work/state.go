package work

import (
	"context"
	"encoding/json"
	"fmt"

	"jp/conversation"
	"jp/tool"
)

// maxState is how many bytes of JSON a state has at most, so that it fits into
// one event, and into one message.
const maxState = 16 << 10

// StateTool is the tool update_state. Each use is a state event of the
// conversation that it is used in.
func StateTool() tool.Tool { return stateTool{stateDefinition()} }

type stateTool struct{ def *tool.Definition }

// A workState is a state as models write and read it.
type workState struct {
	Plan         string   `json:"plan,omitempty"`
	OpenTasks    []string `json:"open_tasks,omitempty"`
	FilesTouched []string `json:"files_touched,omitempty"`
	Assumptions  []string `json:"assumptions,omitempty"`
	Errors       []string `json:"errors,omitempty"`
}

func (s stateTool) Definition() *tool.Definition { return s.def }

// Run keeps the state.
func (s stateTool) Run(ctx context.Context, call tool.Call) (tool.Result, error) {
	if err := ctx.Err(); err != nil {
		return tool.Result{}, err
	}
	var w workState
	if err := json.Unmarshal(call.Arguments, &w); err != nil {
		return tool.Result{}, fmt.Errorf("read the arguments of update_state: %w", err)
	}
	state := &conversation.WorkState{
		Plan: w.Plan, OpenTasks: w.OpenTasks, FilesTouched: w.FilesTouched, Assumptions: w.Assumptions, Errors: w.Errors,
	}
	if size := len(encodedState(state)); size > maxState {
		return tool.Result{
			Content: fmt.Appendf(nil, "The state was not kept: it has %d bytes of JSON, and %d are the most. Say it in fewer words.", size, maxState),
			IsError: true, Effect: "error: too long", WrittenFiles: []string{},
		}, nil
	}
	return tool.Result{
		Content: []byte("The state is kept."), Effect: conversation.Count(len(w.OpenTasks), "open task"),
		WrittenFiles: []string{}, Records: []conversation.Body{state},
	}, nil
}

func stateDefinition() *tool.Definition {
	const list = `{"type":"array","items":{"type":"string"},"description":`
	return &tool.Definition{
		Name: StateName,
		Description: "Keep the state of your work, in the place of what you kept before. If you are interrupted, that is what " +
			"is known of how far you came. Use it when you have a plan, and whenever a part of it is done.",
		Parameters: json.RawMessage(`{"type":"object","additionalProperties":false,"properties":{
			"plan":{"type":"string","description":"What you do, step by step."},
			"open_tasks":` + list + `"What is still to be done."},
			"files_touched":` + list + `"Files that you changed."},
			"assumptions":` + list + `"What you took for granted."},
			"errors":` + list + `"What went wrong."}}}`),
		Effect: tool.Reads, Idempotent: true, Run: tool.Unattended, Result: tool.Unattended,
	}
}
