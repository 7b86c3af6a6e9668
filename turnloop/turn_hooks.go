package turnloop

import (
	"context"
	"strings"

	"jp/conversation"
)

// hookTool asks the hook before tools about a call, and records its decision before anything depends on it.
// If the hook is interrupted, jp asks it again later.
func (l *Loop) hookTool(ctx context.Context, call *conversation.ToolCall) error {
	if !l.hooks.has(PointToolPre) {
		return l.build(ctx, l.stream.CurrentTurn().AddInquiryResponse(conversation.InquiryResponse{
			For: call.Hook().Event.Seq, Outcome: conversation.OutcomeCancelled, By: conversation.ByConfig, Reason: "there is no such hook",
		}))
	}
	doing := activityOf(l.opts.Tools.Registry, call, l.opts.Clock.Now())
	doing.Hook = string(PointToolPre)
	what := line(doing.Name, doing.Argument)
	running, done := l.interrupt.begin(ctx, doing)
	ruling, err := l.hooks.run(running, hookEvent(l.opts.Tools.Registry, PointToolPre, call))
	interrupted := context.Cause(running)
	done()
	if interrupted != nil {
		return interrupted
	}
	response := hookResponse(lookup(l.opts.Tools.Registry, call.Request.Name), ruling, err)
	t := l.stream.CurrentTurn()
	if q := call.Hook(); q != nil {
		response.For = q.Event.Seq // jp recorded the question, and ended before the answer
	} else {
		response.For = addHookQuestion(l.opts.Tools.Registry, t, call)
	}
	if err := l.build(ctx, t.AddInquiryResponse(response)); err != nil {
		return err
	}
	if response.Choice() == conversation.AnswerSkip {
		l.hooks.notify(PointToolPre, strings.TrimSuffix(what+" denied: "+response.Reason, ": "))
	}
	return nil
}

// afterTools tells the hook about results that have become durable. Its notes to the model stand behind them.
// The hook gets a result at most once: if jp ends before it, the result has none.
func (l *Loop) afterTools(ctx context.Context, calls ...*conversation.ToolCall) error {
	for _, call := range calls {
		call = l.stream.Tail().ToolCall(call.Event.Seq)
		if ctx.Err() != nil || call.Open() || !l.hooks.has(PointToolPost) {
			continue
		}
		decision, err := l.hooks.run(ctx, hookEvent(l.opts.Tools.Registry, PointToolPost, call))
		switch {
		case ctx.Err() != nil:
			return err
		case err != nil:
			l.opts.Observer.Noticed(failed(PointToolPost, err))
		case decision.Note != "":
			about := call.Request.Name
			if subject := subjectOf(l.opts.Tools.Registry, about, call.Arguments()); subject != "" {
				about += " " + string(word(subject)) // encoded, to protect the frame
			}
			note := &conversation.Note{Content: noteOf(PointToolPost, about, decision.Note)}
			subject := conversation.WithSubject(noteSubject(PointToolPost, decision.Note))
			if err := l.build(ctx, l.stream.CurrentTurn().AddRecord(note, subject)); err != nil {
				return err
			}
		}
	}
	return context.Cause(ctx)
}

// hookEnd tells the hook how the turn ended. The hook has little time if jp is about to
// end.
func (l *Loop) hookEnd(ctx context.Context, o Outcome) {
	if !l.hooks.has(PointTurnEnd) {
		return
	}
	l.interrupt.turn.Store(false) // the user cannot reply to a hook: Ctrl+C ends it
	if ctx.Err() != nil {
		var cancel func()
		ctx, cancel = context.WithTimeoutCause(context.WithoutCancel(ctx), hookGracePeriod, errHookGracePeriod)
		defer cancel()
	}
	_, err := l.hooks.run(ctx, HookEvent{Point: PointTurnEnd, Turn: o.Turn, Outcome: &o, Files: filesChanged(newestTurn(l.stream))})
	if err != nil {
		l.opts.Observer.Noticed(failed(PointTurnEnd, err))
	}
}
