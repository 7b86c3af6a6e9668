package toolset

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"jp/agent/problem"
	"jp/agent/repo"
	"jp/conversation"
	"jp/hooks"
	"jp/internal/safetext"
	"jp/process/attach"
	"jp/tool"
	"jp/turnloop"
)

// TurnHooks run the user's commands at the points of a conversation's turns.
type TurnHooks struct {
	Engine   *hooks.Engine
	ID       conversation.ID // "" for one that other processes do not know
	Recorded bool
}

var _ turnloop.Hooks = TurnHooks{}

// NotInHook refuses to run a turn for a hook: the hooks of that turn would run one in their turn.
func NotInHook(e *repo.Host) error {
	point := e.Get(hooks.Marker)
	if point == "" {
		return nil
	}
	return problem.New(problem.ExitDecision, "untrusted", "the %s hook runs no turn: that one would have hooks, too.", problem.OneLine(point))
}

// Has implements [turnloop.Hooks].
func (h TurnHooks) Has(p turnloop.Point) bool { return h.Engine.Has(hooks.Point(p)) }

// Run implements [turnloop.Hooks].
func (h TurnHooks) Run(ctx context.Context, m turnloop.HookEvent) (turnloop.HookDecision, error) {
	d, said, err := h.Engine.Run(ctx, h.input(m))
	var program *hooks.ProgramError
	if errors.As(err, &program) && errors.Is(err, hooks.ErrNotExecutable) {
		err = fmt.Errorf("%w (chmod +x %s)", err, safetext.Escape(program.File))
	}
	return turnloop.HookDecision{Denied: d.Denied, Reason: d.Reason, Note: d.Note, Arguments: d.Arguments, Said: said}, err
}

func (h TurnHooks) input(m turnloop.HookEvent) hooks.Input {
	in := hooks.Input{Point: hooks.Point(m.Point), Conversation: h.ID, Recorded: h.Recorded, Turn: m.Turn, Model: m.Model, Request: m.Request}
	if m.Call != nil {
		in.Tool = hookTool(m)
	}
	if m.Call != nil && m.Call.Result != nil {
		in.Result = hookResult(m.Call.Result)
	}
	if m.Question != nil {
		in.Inquiry = h.inquiry(*m.Question)
	}
	if m.Outcome != nil {
		in.End = hookEnd(m)
	}
	return in
}

func hookTool(m turnloop.HookEvent) *hooks.Tool {
	t := &hooks.Tool{
		Seq: m.Call.Event.Seq, Name: m.Call.Request.Name, Arguments: json.RawMessage(m.Call.Arguments()), Subject: m.Subject, Effect: "changes",
	}
	if m.Tool != nil && m.Tool.Effect == tool.Reads {
		t.Effect = "reads"
	}
	return t
}

func hookResult(r *conversation.ToolCallResponse) *hooks.Result {
	content, cut := hooks.CutText(r.Content)
	result := &hooks.Result{
		Content: content, Cut: cut || r.Truncated != nil, IsError: r.IsError, Changed: []string{}, DurationMS: r.DurationMS,
	}
	for _, c := range r.Changed {
		result.Changed = append(result.Changed, repo.PlainPath(c.Path))
	}
	return result
}

func (h TurnHooks) inquiry(q turnloop.Question) *hooks.Inquiry {
	r := q.Inquiry.Request
	answer := ""
	if h.Recorded { // else the event of this number is another one, or missing
		answer = repo.AnswerCommand(attach.InquiryOf(h.ID, q.Inquiry)).String()
	}
	return &hooks.Inquiry{
		Seq: q.Inquiry.Event.Seq, Kind: string(r.Kind), Tool: q.Inquiry.Call.Request.Name, Subject: q.Subject,
		Text: r.Question.Text, AnswerType: r.Question.AnswerType, Answer: answer,
	}
}

func hookEnd(m turnloop.HookEvent) *hooks.End {
	message, _ := hooks.CutText(m.Outcome.Message)
	end := &hooks.End{
		Status: string(m.Outcome.Status), Message: message, Data: m.Outcome.Data, Files: []string{},
		Usage: hooks.Usage{Input: m.Outcome.Usage.Input, Output: m.Outcome.Usage.Output, CostUSD: m.Outcome.Usage.CostUSD},
	}
	for _, path := range m.Files {
		end.Files = append(end.Files, repo.PlainPath(path))
	}
	return end
}
