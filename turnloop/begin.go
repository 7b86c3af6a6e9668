package turnloop

import (
	"context"
	"fmt"
	"strings"

	"jp/conversation"
)

// begin makes the start of a turn and the request durable, with the changes of the files since the last event
// and the messages that the model needs again.
func (l *Loop) begin(ctx context.Context, r Request) error {
	told := r.Records
	if l.hooks.has(PointTurnStart) { // the hook may refuse the turn, or tell the model something
		decision, err := l.hooks.run(ctx, HookEvent{Point: PointTurnStart, Turn: l.stream.TurnNumber() + 1, Request: r.Chat.Content})
		switch {
		case ctx.Err() != nil:
			return err
		case err != nil:
			l.opts.Observer.Noticed(failed(PointTurnStart, err))
		case decision.Denied:
			return &DeniedError{Reason: decision.Reason}
		case decision.Note != "":
			told = append(told[:len(told):len(told)], &conversation.Event{
				Body:    &conversation.Note{Content: noteOf(PointTurnStart, "", decision.Note)},
				Subject: noteSubject(PointTurnStart, decision.Note),
			})
		}
	}
	l.interrupt.turn.Store(true)
	sight, err := l.files.look(ctx, SnapshotRequest{})
	if err != nil {
		return err
	}
	first := l.stream.Len() == 0
	var records []*conversation.Event
	if outside := l.files.drift(sight); outside != nil && !first {
		records = append(records, outside)
	}
	prompt, err := l.prompt(ctx)
	if err != nil {
		return err
	}
	if prompt != nil {
		records = append(records, prompt)
	}
	records = append(records, told...)
	start := conversation.TurnStart{Model: l.opts.Model.Name, JP: l.opts.Conversation.JP, Approved: r.Approved}
	if is := l.opts.Input.Environment; is != conversation.ToldEnvironment(l.stream.Events()) {
		start.Environment = is
	}
	t := l.stream.StartTurn(start, r.Chat, records...)
	t.Draft(0, func(e *conversation.Event) {
		e.Git = &sight.Git
		if moved := l.files.moved(sight.Git); moved != nil && !first {
			e.Git = moved
		}
		if l.files.tree == "" {
			e.Tree, e.Objects = sight.Tree, sight.Objects
		}
	})
	t.Draft(-1, func(e *conversation.Event) { e.Payloads = r.Attachments })
	if l.opts.Input.Touched != nil && len(r.Chat.Attachments) > 0 {
		var paths []string
		for _, a := range r.Chat.Attachments {
			paths = append(paths, a.Name)
		}
		if given := l.opts.Input.Touched(ctx, l.stream.Events(), paths, t.Next()-1); given != nil {
			t.AddRecord(given)
		}
	}
	return l.build(ctx, t)
}

// prompt is an event with the system prompt and the tool definitions, nil if the present ones are the same.
func (l *Loop) prompt(ctx context.Context) (*conversation.Event, error) {
	text, sum, err := toolsText(l.opts.Tools.Registry)
	if err != nil {
		return nil, err
	}
	for i := l.stream.Len() - 1; i >= 0; i-- {
		e := l.stream.Events()[i]
		if b, ok := e.Body.(*conversation.Prompt); ok {
			p := e.Payload(conversation.PayloadTools)
			if b.System == l.opts.Model.System && p != nil && p.SHA256 == sum {
				if _, there, err := l.opts.Conversation.Journal.Payload(ctx, *p); there || err != nil {
					return nil, err
				} // it was missing from the fetched conversation, and is written again
			}
			break
		}
	}
	return &conversation.Event{
		Body:     &conversation.Prompt{System: l.opts.Model.System},
		Subject:  fmt.Sprintf("prompt: %s, %s", conversation.Count(len(strings.Fields(l.opts.Model.System)), "word"), conversation.Count(len(l.opts.Tools.Registry.Definitions()), "tool")),
		Payloads: []conversation.Payload{{Name: conversation.PayloadTools, MediaType: "application/json", Data: text}},
	}, nil
}
