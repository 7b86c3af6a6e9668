package main

import (
	"context"
	"encoding/json"
	"maps"

	"jp/conversation"
	"jp/hooks"
	"jp/process/attach"
	"jp/tool"
	"jp/turnloop"
)

// turnHooks run the user's commands at the points of a conversation's turns.
type turnHooks struct {
	engine   *hooks.Engine
	id       conversation.ID // "" for one that nobody else knows
	recorded bool
}

var _ turnloop.Hooks = turnHooks{}

// openHooks prepares the commands of the configuration; nil where it has none.
func (q *query) openHooks() turnloop.Hooks {
	commands := map[hooks.Point][]string{}
	for point, argv := range q.repo.config.Hooks {
		commands[hooks.Point(point)] = argv
	}
	if len(commands) == 0 {
		return nil
	}
	engine := hooks.New(commands, hooks.Options{
		Dir: q.repo.place(), Environ: q.env.environ, Secret: q.keyVariables(),
		Limit: q.repo.config.Limits.HookTimeout,
	})
	return turnHooks{engine: engine, id: q.known(), recorded: !q.opts.noPersist}
}

// keyVariables are the variables that the configuration takes keys from.
func (q *query) keyVariables() []string {
	var names []string
	for p := range maps.Values(q.repo.config.Providers) {
		if p.APIKeyEnv != "" {
			names = append(names, p.APIKeyEnv)
		}
	}
	return names
}

// notInHook refuses to run a turn for a hook: the hooks of that turn would run
// one in their turn.
func notInHook(e *host) error {
	point := e.get(hooks.Marker)
	if point == "" {
		return nil
	}
	return fail(exitDecision, "untrusted", "the %s hook runs no turn: that one would have hooks, too.", oneLine(point))
}

// Has implements [turnloop.Hooks].
func (h turnHooks) Has(p turnloop.Point) bool { return h.engine.Has(hooks.Point(p)) }

// Run implements [turnloop.Hooks].
func (h turnHooks) Run(ctx context.Context, m turnloop.Moment) (turnloop.Ruling, error) {
	d, said, err := h.engine.Run(ctx, h.input(m))
	return turnloop.Ruling{Denied: d.Denied, Reason: d.Reason, Note: d.Note, Arguments: d.Arguments, Said: said}, err
}

func (h turnHooks) input(m turnloop.Moment) hooks.Input {
	in := hooks.Input{Point: hooks.Point(m.Point), Conversation: h.id, Recorded: h.recorded, Turn: m.Turn, Model: m.Model, Request: m.Request}
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

func hookTool(m turnloop.Moment) *hooks.Tool {
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
		result.Changed = append(result.Changed, plainPath(c.Path))
	}
	return result
}

func (h turnHooks) inquiry(q turnloop.Question) *hooks.Inquiry {
	r := q.Inquiry.Request
	answer := ""
	if h.recorded { // else the event of this number is another one, or none
		answer = answerCommand(attach.InquiryOf(h.id, q.Inquiry))
	}
	return &hooks.Inquiry{
		Seq: q.Inquiry.Event.Seq, Kind: string(r.Kind), Tool: q.Inquiry.Call.Request.Name, Subject: q.Subject,
		Text: r.Question.Text, AnswerType: r.Question.AnswerType, Answer: answer,
	}
}

func hookEnd(m turnloop.Moment) *hooks.End {
	message, _ := hooks.CutText(m.Outcome.Message)
	end := &hooks.End{
		Status: string(m.Outcome.Status), Message: message, Data: m.Outcome.Data, Files: []string{},
		Usage: hooks.Usage{Input: m.Outcome.Usage.Input, Output: m.Outcome.Usage.Output, CostUSD: m.Outcome.Usage.CostUSD},
	}
	for _, path := range m.Files {
		end.Files = append(end.Files, plainPath(path))
	}
	return end
}
