package turnloop

import (
	"context"

	"jp/conversation"
)

// Stop ends an incomplete turn early, which completes it. Its tools must have ended.
func (l *Loop) Stop(ctx context.Context, by conversation.Cause) (Outcome, error) {
	if !l.stream.Tail().Complete() {
		if err := l.stop(ctx, by, ""); err != nil {
			return Outcome{Status: Incomplete}, err
		}
	}
	return l.finish(ctx)
}

// Reply stops the current step of an incomplete turn, as Stop does, and goes on with
// the user's message. The tools of the turn must have ended.
func (l *Loop) Reply(ctx context.Context, chat conversation.ChatRequest) (Outcome, error) {
	t := l.stream.CurrentTurn()
	if err := l.closeOpen(ctx, t, textInterrupted); err != nil {
		return Outcome{Status: Incomplete}, err
	}
	chat.Interrupt = true
	if err := l.build(ctx, t.AddChatRequest(chat)); err != nil {
		return Outcome{Status: Incomplete}, err
	}
	return l.Run(ctx)
}

// stop ends the turn as it stands. The reason is for the user, "" if the user stopped it.
func (l *Loop) stop(ctx context.Context, by conversation.Cause, reason string) error {
	t := l.stream.CurrentTurn()
	if err := l.closeOpen(ctx, t, textInterrupted); err != nil {
		return err
	}
	return l.build(ctx, t.AddRecord(&conversation.TurnStopped{By: by, Reason: reason}))
}

// Adopt closes everything open in a turn that another run began: none of its calls ever runs. The adoption
// itself is on record already.
func (l *Loop) Adopt(ctx context.Context) error {
	t := l.stream.CurrentTurn()
	if err := l.closeOpen(ctx, t, textForeign); err != nil {
		return err
	}
	return l.build(ctx, t)
}

// closeOpen ends every live question, withholds every result that waits for its delivery, and gives every
// open call a response: the text, if it has not started.
func (l *Loop) closeOpen(ctx context.Context, t *conversation.TurnBuilder, text string) error {
	ledger := l.stream.Tail()
	for _, q := range ledger.Live() {
		addCancelled(t, q.Event.Seq)
	}
	for _, call := range ledger.ToolCalls {
		if call.Undelivered() && call.Inquiry(conversation.KindDeliverResult) == nil {
			seq := t.Next()
			t.AddInquiryRequest(deliveryQuestion(call, lookup(l.opts.Tools.Registry, call.Request.Name)))
			addCancelled(t, seq)
		}
	}
	if lost, _ := ledger.Lost(); len(lost) > 0 {
		if err := l.files.addLost(ctx, t, &l.opts, l.stream.Tail()); err != nil {
			return err
		}
	}
	for _, call := range ledger.Open() {
		content := text
		if call.Lost() && !ledger.Foreign(call) {
			content = textCancelled
		}
		t.AddToolCallResponse(conversation.ToolCallResponse{
			For: call.Event.Seq, ID: call.Request.ID, Name: call.Request.Name, Content: content, IsError: true, Cancelled: true,
		}, conversation.WithSubject(responseSubject(l.opts.Tools.Registry, call, "cancelled")))
	}
	return nil
}

func addCancelled(t *conversation.TurnBuilder, seq int) {
	t.AddInquiryResponse(conversation.InquiryResponse{For: seq, Outcome: conversation.OutcomeCancelled, By: conversation.ByUser})
}

// handleInterrupt carries out a user's command to the turn.
func (l *Loop) handleInterrupt(ctx context.Context, c *UserCommand) error {
	if c.Kind == CommandStop {
		return l.stop(ctx, conversation.ByUser, "")
	}
	t := l.stream.CurrentTurn()
	if err := l.closeOpen(ctx, t, textInterrupted); err != nil {
		return err
	}
	return l.build(ctx, t.AddChatRequest(conversation.ChatRequest{Content: c.Text, Interrupt: true}))
}
