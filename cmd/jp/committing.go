package main

import (
	"context"
	"maps"
	"slices"

	"jp/conversation"
)

// changedByTools are the files that the tools of a conversation changed, and those of them
// of which no snapshot has what they wrote, sorted. What somebody else's tools did does
// not count.
func (r *repo) changedByTools(ctx context.Context, id conversation.ID) (recorded, unrecorded []string, err error) {
	head, err := r.store.Head(ctx, id)
	if err != nil {
		return nil, nil, err
	}
	events, err := r.store.Load(ctx, head)
	if err != nil {
		return nil, nil, err
	}
	changed, left := map[string]bool{}, map[string]bool{}
	for _, e := range conversation.Own(events) {
		response, is := e.Body.(*conversation.ToolCallResponse)
		if !is {
			continue
		}
		for _, c := range response.Changed {
			changed[plainPath(c.Path)] = true
			delete(left, plainPath(c.Path))
		}
		for _, l := range response.LeftOut {
			left[plainPath(l.Path)] = true
		}
	}
	return slices.Sorted(maps.Keys(changed)), slices.Sorted(maps.Keys(left)), nil
}
