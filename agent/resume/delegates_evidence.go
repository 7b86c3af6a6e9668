package resume

import (
	"context"
	"slices"

	"jp/agent/repo"
	"jp/conversation"
	"jp/reconcile"
)

// WorksFor is the conversation that one with these events works for, "" if that is the user.
func WorksFor(events []*conversation.Event) conversation.ID {
	for _, e := range slices.Backward(events) {
		if b, ok := e.Body.(*conversation.Metadata); ok && b.Parent != "" {
			return b.Parent
		}
	}
	return ""
}

// Delegates are the states of the delegates of the open calls of a turn, the newest of the conversation with
// these events, as far as readable. leave is whether they are left alone.
func Delegates(ctx context.Context, r *repo.Repo, id conversation.ID, events []*conversation.Event, ledger *conversation.Ledger, leave bool) map[int]reconcile.Delegate {
	found := map[int]reconcile.Delegate{}
	for _, call := range ledger.Open() {
		child := call.Child()
		if child == "" {
			continue
		}
		d := reconcile.Delegate{Child: child, Left: leave}
		if head, err := r.Store.Head(ctx, child); err == nil {
			events, _ := r.Store.Load(ctx, head) // the events before damage are known
			_, tail := conversation.SplitTail(events)
			d.Begun = len(events) > 0 && events[len(events)-1].Turn > 0
			d.Complete = d.Begun && tail == nil
			d.Left = d.Left || WorksFor(events) != id
			d.State = conversation.NewestState(events)
		}
		d.Left = d.Left || !d.Begun && NamedElsewhere(events, child)
		found[call.Event.Seq] = d
	}
	return found
}

// NamedElsewhere reports whether the source of a fork with these events named a child. If so, it is unknown
// whether the child had begun there.
func NamedElsewhere(events []*conversation.Event, child conversation.ID) bool {
	named := false
	for _, e := range events {
		switch b := e.Body.(type) {
		case *conversation.ToolStarted:
			named = named || b.Child == child
		case *conversation.ForkOrigin:
			if named {
				return true
			}
		}
	}
	return false
}
