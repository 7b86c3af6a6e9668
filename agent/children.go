package agent

import (
	"context"
	"fmt"
	"slices"

	"jp/conversation"
	"jp/reconcile"
)

// parentIn is the conversation that one with these events works for, "" if it
// works for the user.
func parentIn(events []*conversation.Event) conversation.ID {
	for _, e := range slices.Backward(events) {
		if b, ok := e.Body.(*conversation.Metadata); ok && b.Parent != "" {
			return b.Parent
		}
	}
	return ""
}

// delegates is what is known of the children of a turn's open calls. Of one that
// cannot be read nothing is.
func (q *query) delegates(ctx context.Context, ledger *conversation.Ledger) map[int]reconcile.Delegate {
	found := map[int]reconcile.Delegate{}
	for _, call := range ledger.Open() {
		id := call.Child()
		if id == "" {
			continue
		}
		d := reconcile.Delegate{Child: id, Left: q.opts.Pending == "report"}
		if head, err := q.repo.Store.Head(ctx, id); err == nil {
			events, _ := q.repo.Store.Load(ctx, head) // what is before damage is known
			_, tail := conversation.Split(events)
			d.Begun = len(events) > 0 && events[len(events)-1].Turn > 0
			d.Complete = d.Begun && tail == nil
			d.Left = d.Left || parentIn(events) != q.id
			d.State = conversation.NewestState(events)
		}
		d.Left = d.Left || !d.Begun && namedElsewhere(q.stream.Events(), id)
		found[call.Event.Seq] = d
	}
	return found
}

// awaitChildren refuses to go on while another process works in a child, or a
// tool of its earlier run does. What else keeps a child from going on is for its
// parent's model to know.
func (q *query) awaitChildren(ctx context.Context, ledger *conversation.Ledger) error {
	for _, d := range q.delegates(ctx, ledger) {
		if d.Left || !d.Begun {
			continue
		}
		if err := (children{q}).await(ctx, d.Child); err != nil && refusal(err) == "" {
			return err
		}
	}
	return nil
}

func (c children) await(ctx context.Context, id conversation.ID) error {
	q := c.child(id)
	if err := q.lock(); err != nil {
		return err
	}
	defer q.held.Release()
	if err := q.open(ctx); err != nil || q.tail == nil {
		return err
	}
	return q.awaitTools(ctx, q.tail.Ledger())
}

// takeBackChildren takes the turns of the children back whose calls are open.
func (q *query) takeBackChildren(ctx context.Context) error {
	for _, call := range q.tail.Ledger().Open() {
		id := call.Child()
		if id == "" {
			continue
		}
		if err := (children{q}).takeBack(ctx, id); err != nil {
			return fmt.Errorf("discard the delegate's turn: %w", err)
		}
	}
	return nil
}

// takeBack takes the turn of a child's task back, unless that was done, the user
// has asked something else there since, or it works for another conversation.
func (c children) takeBack(ctx context.Context, id conversation.ID) error {
	q := c.child(id)
	if err := q.lock(); err != nil {
		return err
	}
	defer q.held.Release()
	if err := q.open(ctx); err != nil || q.worksFor() != q.parent.id || q.stream.Tail().Discarded || q.stream.TurnNumber() != 1 {
		return err
	}
	if q.tail != nil {
		return q.takeBack(ctx)
	}
	return q.bookkeeper(nil).Discard(ctx)
}
