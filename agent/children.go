package agent

import (
	"context"
	"fmt"

	"jp/agent/evidence"
	"jp/conversation"
)

// awaitChildren refuses to go on while another process works in a child, or a
// tool of its earlier run does. What else keeps a child from going on is for its
// parent's model to know.
func (q *query) awaitChildren(ctx context.Context, ledger *conversation.Ledger) error {
	for _, d := range evidence.Delegates(ctx, q.repo, q.id, q.stream.Events(), ledger, q.opts.Pending == "report") {
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
