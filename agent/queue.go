package agent

import (
	"context"
	"fmt"

	"jp/agent/live"
	"jp/agent/problem"
	"jp/conversation"
	"jp/internal/action"
	"jp/turnloop"
)

// A queueKeeper is an observer that lets the queue drop the recorded messages.
type queueKeeper struct {
	turnloop.Observer
	queue *live.Queue
}

// Recorded implements [turnloop.Observer].
func (k queueKeeper) Recorded(events []*conversation.Event) {
	k.queue.Recorded(events)
	k.Observer.Recorded(events)
}

// keptMessages are those that an earlier process accepted and left unread. A chat's queue shows its own.
type keptMessages struct {
	run   *run
	queue *live.Queue // nil: the turn takes no messages
	id    conversation.ID
}

func (k keptMessages) texts(ctx context.Context) []string {
	if k.queue == nil || k.run.delegation != nil || k.queue.Kept() == 0 {
		return nil
	}
	return LeftInQueue(ctx, k.run.repo, k.id, live.NewQueue(k.run.repo.StateDir(), k.id))
}

// take lets the model read them at the next boundary of the turn that is resumed.
func (k keptMessages) take(ctx context.Context) {
	if b := k.run.background; b != nil && b.Order.Asked { // the turn is new
		return
	}
	texts := k.texts(ctx)
	for _, text := range texts {
		k.run.out.Noticed(fmt.Sprintf("The model reads what you sent before: %q", problem.OneLine(text)))
	}
	if len(texts) > 0 {
		k.queue.Take(texts)
	}
}

// tell says before a new turn that they wait.
func (k keptMessages) tell(ctx context.Context) {
	if texts := k.texts(ctx); len(texts) > 0 {
		k.run.out.Noticed(fmt.Sprintf("%s for an earlier turn: %q   %s sends or drops it", conversation.Count(len(texts), "message"), problem.OneLine(texts[0]), action.Chat(k.id.Short())))
	}
}
