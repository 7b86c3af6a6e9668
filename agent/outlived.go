package agent

import (
	"context"

	"jp/agent/repo"
	"jp/conversation"
)

// WorkersOf are the delegates of a conversation's incomplete turn, and theirs, unless
// another process holds them or the user has asked something else there since.
func WorkersOf(ctx context.Context, r *repo.Repo, id conversation.ID) (all []conversation.ID) {
	known := map[conversation.ID]bool{id: true}
	for next := []conversation.ID{id}; len(next) > 0; next = next[1:] {
		for _, child := range openChildren(ctx, r, next[0]) {
			info, err := r.Store.Info(ctx, child)
			_, held := r.Locks.Held(child)
			if err != nil || held || known[child] || info.Summary.Parent != next[0] || info.Summary.Turns > 1 {
				continue
			}
			known[child] = true
			all, next = append(all, child), append(next, child)
		}
	}
	return all
}

// openChildren are the conversations in which the open calls of one work, as far as it
// can be read.
func openChildren(ctx context.Context, r *repo.Repo, id conversation.ID) (children []conversation.ID) {
	info, err := r.Store.Info(ctx, id)
	if err != nil || len(info.Summary.Open) == 0 {
		return nil
	}
	events, _ := r.Store.Load(ctx, info.Head) // the events before damage are known
	_, tail := conversation.SplitTail(events)
	if tail == nil {
		return nil
	}
	for _, call := range tail.Ledger().Open() {
		if child := call.Child(); child != "" {
			children = append(children, child)
		}
	}
	return children
}

// EndTools ends the tools of the conversation's open calls that outlived their
// process, and counts them.
func EndTools(ctx context.Context, r *repo.Repo, id conversation.ID) (ended int, err error) {
	info, err := r.Store.Info(ctx, id)
	if err != nil {
		return 0, nil // it is unreadable or missing, and so are its calls
	}
	for _, seq := range r.States().ToolsLeft(info) {
		if err := r.Locks.EndTool(ctx, id, seq); err != nil {
			return ended, err
		}
		ended++
	}
	return ended, nil
}
