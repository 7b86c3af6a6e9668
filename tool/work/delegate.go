package work

import (
	"context"
	"encoding/json"

	"jp/conversation"
	"jp/tool"
)

// Names of the tools.
const (
	DelegateName = "delegate"
	StateName    = "update_state"
)

// A Runner runs child conversations.
type Runner interface {
	// Run begins or resumes the child's conversation, and returns at its end. An error means that the task
	// can be resumed: ctx ended, or there is a temporary obstacle. A task that failed for good is a Report
	// without an answer.
	Run(ctx context.Context, t Task) (Report, error)
}

// A Task describes the child's work.
type Task struct {
	Child   conversation.ID // its conversation
	Attempt int             // from 1; above 1 the conversation may exist
	Text    string
	Tools   []string // names of those that it may use; nil: those of its parent
	Model   string   // as users name models; "": its parent's
	Budget  int      // tokens, in and out; 0: any number
}

// A Report is the child's result.
type Report struct {
	Answer string
	Why    string                  // why there is no answer; "" if there is one
	None   bool                    // no conversation was begun
	State  *conversation.WorkState // the child's last state, nil if it gave none
	Calls  int                     // model calls
	Usage  conversation.Usage
	Files  []string // that its tools wrote or removed, relative to the workspace; nil: unknown
}

// DelegateTool is the tool delegate over a runner.
func DelegateTool(runner Runner) tool.Tool {
	return &delegate{runner: runner, def: delegateDefinition()}
}

type delegate struct {
	runner Runner
	def    *tool.Definition
}

func (d *delegate) Definition() *tool.Definition { return d.def }

// Run runs the task of the call.
func (d *delegate) Run(ctx context.Context, call tool.Call) (tool.Result, error) {
	task, err := taskOf(call)
	if err != nil {
		return delegateError(err), nil
	}
	report, err := d.runner.Run(ctx, task)
	if err != nil {
		return tool.Result{}, err
	}
	return report.result(task.Child), nil
}

func delegateDefinition() *tool.Definition {
	return &tool.Definition{
		Name: DelegateName,
		Description: "Give a task to another model, which works on it in this workspace and returns its answer. " +
			"It knows nothing of this conversation: say all that it needs, what to do, and what to answer. " +
			"Use it for work that is well defined and would fill this conversation, such as a search through many files. " +
			"It cannot delegate.",
		Parameters: json.RawMessage(`{"type":"object","required":["task"],"additionalProperties":false,"properties":{
			"task":{"type":"string","minLength":1},
			"tools":{"type":"array","items":{"type":"string"},"description":"Names of tools that it may use. Default: yours."},
			"model":{"type":"string","description":"PROVIDER/NAME or an alias. Default: yours."},
			"budget":{"type":"integer","minimum":1,"description":"The most tokens, in and out. Default: no limit."}}}`),
		Effect: tool.Changes, Resumes: true, Run: tool.Ask, Result: tool.Unattended, Subject: delegateSubject,
	}
}
