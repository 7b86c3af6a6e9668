package work

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"jp/conversation"
	"jp/tool"
)

// Bounds of a plan.
const (
	mostSteps = 50
	mostText  = 500 // bytes of one step
)

// The states of a step.
const (
	Pending    = "pending"
	InProgress = "in_progress"
	Completed  = "completed"
)

// A Step is one step of a plan.
type Step struct {
	Text  string `json:"text"`
	State string `json:"state"`
}

// PlanTool returns the tool by which a model writes down the steps of its work. The newest plan is the one in force,
// and it is an event like any result.
func PlanTool() tool.Tool { return planTool{} }

type planTool struct{}

var planDefinition = &tool.Definition{
	Name: tool.Plan, Effect: tool.Reads, Idempotent: true, Run: tool.Unattended, Result: tool.Unattended,
	Description: "Write down the steps of your work, in the place of the plan before. The user sees the list. " +
		"Call it once at the start, and whenever a step begins or is done.",
	Parameters: json.RawMessage(`{"type":"object","required":["steps"],"additionalProperties":false,"properties":{
		"steps":{"type":"array","minItems":1,"maxItems":50,"description":"All steps, the finished ones too.","items":{
			"type":"object","required":["text","state"],"additionalProperties":false,"properties":{
				"text":{"type":"string"},
				"state":{"type":"string","enum":["pending","in_progress","completed"]}}}}}}`),
	Subject: func(arguments json.RawMessage) string {
		steps, err := Steps(arguments)
		if err != nil {
			return ""
		}
		return conversation.Count(len(steps), "step")
	},
}

func (planTool) Definition() *tool.Definition { return planDefinition }

// Steps are the steps of a call's arguments.
func Steps(arguments json.RawMessage) ([]Step, error) {
	var plan struct {
		Steps []Step `json:"steps"`
	}
	err := json.Unmarshal(arguments, &plan)
	return plan.Steps, err
}

// Run checks the plan, and returns it as a list.
func (planTool) Run(ctx context.Context, call tool.Call) (tool.Result, error) {
	if err := ctx.Err(); err != nil {
		return tool.Result{}, err
	}
	steps, err := Steps(call.Arguments)
	if err != nil {
		return tool.Result{}, fmt.Errorf("read the arguments of %s: %w", tool.Plan, err)
	}
	if problem := planFault(steps); problem != "" {
		return tool.Result{Content: []byte("The plan was not kept: " + problem), IsError: true, Effect: "error: " + problem, WrittenFiles: []string{}}, nil
	}
	done := 0
	for _, s := range steps {
		if s.State == Completed {
			done++
		}
	}
	return tool.Result{
		Content: []byte(planList(steps)), Effect: fmt.Sprintf("%d done", done), WrittenFiles: []string{},
	}, nil
}

// planFault is the reason for refusing a plan, "" if it is valid.
func planFault(steps []Step) string {
	if n := len(steps); n == 0 || n > mostSteps {
		return fmt.Sprintf("it has %s (want 1 to %d)", conversation.Count(n, "step"), mostSteps)
	}
	for i, s := range steps {
		switch {
		case strings.TrimSpace(s.Text) == "":
			return fmt.Sprintf("step %d has no text", i+1)
		case len(s.Text) > mostText:
			return fmt.Sprintf("step %d has %d bytes (at most %d)", i+1, len(s.Text), mostText)
		case marks[s.State] == "":
			return fmt.Sprintf("step %d has the state %q (want %s, %s or %s)", i+1, s.State, Pending, InProgress, Completed)
		}
	}
	return ""
}

// marks are the states in text, readable without colours.
var marks = map[string]string{Pending: "[ ]", InProgress: "[>]", Completed: "[x]"}

// planList is a plan as text, one step a line.
func planList(steps []Step) string {
	lines := make([]string, len(steps))
	for i, s := range steps {
		lines[i] = marks[s.State] + " " + strings.Join(strings.Fields(s.Text), " ")
	}
	return strings.Join(lines, "\n")
}
