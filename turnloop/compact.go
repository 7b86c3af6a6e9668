package turnloop

import (
	"context"

	"jp/conversation"
)

const writesSummary = "a summary, to make room"

// Compact records the compactions that order chooses for an idle conversation, and returns their events.
func Compact(ctx context.Context, opts Options, order func(context.Context, Room) ([]conversation.Body, error)) ([]*conversation.Event, error) {
	m := modelClient{opts: &opts, stream: opts.Conversation.Stream}
	opts.Conversation.Stream.SetClock(opts.Clock.Now)
	shown := newActivities(opts.Observer.Working, opts.Secrets.Redact)
	defer shown.Quiet()
	options := m.options()
	options.Content = m.content(ctx)
	bodies, err := order(ctx, Room{Events: opts.Conversation.Stream.Events(), Request: options, Asking: func(ctx context.Context) (context.Context, func()) {
		return ctx, shown.Begin(Activity{Seq: opts.Conversation.Stream.NextSeq(), Started: opts.Clock.Now(), Writing: writesSummary}).End
	}})
	if err != nil || len(bodies) == 0 {
		return nil, err
	}
	var records []*conversation.Event
	for _, b := range bodies {
		records = append(records, &conversation.Event{Body: b})
	}
	return records, opts.Conversation.Stream.Append(func(events []*conversation.Event) error {
		if _, err := opts.Conversation.Journal.Append(context.WithoutCancel(ctx), opts.Conversation.ID, opts.Conversation.Head, events); err != nil {
			return &JournalError{Seq: events[0].Seq, Err: err}
		}
		return nil
	}, records...)
}
