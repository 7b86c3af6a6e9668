// Package delegate has the tool delegate, by which a model gives a task to a
// child: a model that works on it in a conversation of its own. And it has the
// tool update_state, by which the child says how far its work has come.
//
// The package leaves running and storing conversations to a [Runner]. It makes
// a task of a call's arguments, and of what came of the task a result.
//
// What holds:
//
//   - The child is known by the id that the call brings, which is on record
//     before the child begins. A call that is run again goes on with that child.
//   - Without an answer the result is an error that says why, with what the child
//     said last of its work. Its words stand there as JSON, so that they cannot
//     pass for words of jp.
package delegate

import (
	"context"
	"encoding/json"

	"jp/conversation"
	"jp/tool"
)

// Names of the tools.
const (
	Name      = "delegate"
	StateName = "update_state"
)

// A Runner runs child conversations.
type Runner interface {
	// Run begins the child's conversation, or goes on with it where it has begun,
	// until it comes to its end. An error leaves the task to be gone on with:
	// ctx ended, or something is in the way that may go away. A task that will
	// not be gone on with is a Report without an answer.
	Run(ctx context.Context, t Task) (Report, error)
}

// A Task is what a child is to do.
type Task struct {
	Child   conversation.ID // its conversation
	Attempt int             // from 1; above 1 the conversation may exist
	Text    string
	Tools   []string // names of those that it may use; nil: those of its parent
	Model   string   // as users name models; "": its parent's
	Budget  int      // tokens, in and out; 0: any number
}

// A Report is what came of a task.
type Report struct {
	Answer string
	Why    string                  // why there is no answer; "" where there is one
	None   bool                    // there is no conversation: nothing was begun
	State  *conversation.WorkState // what the child said last of its work, nil if nothing
	Calls  int                     // model calls
	Usage  conversation.Usage
	Files  []string // that its tools wrote or removed, relative to the workspace; nil: not known
}

// Tool is the tool delegate over a runner.
func Tool(runner Runner) tool.Tool { return &delegate{runner: runner, def: definition()} }

type delegate struct {
	runner Runner
	def    *tool.Definition
}

func (d *delegate) Definition() *tool.Definition { return d.def }

// Run has the task of the call done.
func (d *delegate) Run(ctx context.Context, call tool.Call) (tool.Result, error) {
	task, err := taskOf(call)
	if err != nil {
		return wrong(err), nil
	}
	report, err := d.runner.Run(ctx, task)
	if err != nil {
		return tool.Result{}, err
	}
	return report.result(task.Child), nil
}

func definition() *tool.Definition {
	return &tool.Definition{
		Name: Name,
		Description: "Give a task to another model, which works on it in this workspace and returns its answer. " +
			"It knows nothing of this conversation: say all that it needs, what to do, and what to answer. " +
			"Use it for work that is well defined and would fill this conversation, such as a search through many files. " +
			"It cannot delegate.",
		Parameters: json.RawMessage(`{"type":"object","required":["task"],"additionalProperties":false,"properties":{
			"task":{"type":"string","minLength":1},
			"tools":{"type":"array","items":{"type":"string"},"description":"Names of tools that it may use. Default: yours."},
			"model":{"type":"string","description":"PROVIDER/NAME or an alias. Default: yours."},
			"budget":{"type":"integer","minimum":1,"description":"The most tokens, in and out. Default: no limit."}}}`),
		Effect: tool.Changes, Resumes: true, Run: tool.Ask, Result: tool.Unattended, Subject: subject,
	}
}
