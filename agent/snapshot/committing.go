package snapshot

import (
	"context"
	"maps"
	"slices"

	"jp/agent/repo"
	"jp/conversation"
)

// ChangedByTools are the files that the tools of a conversation changed, and those of them whose content from
// the tools is in no snapshot, sorted. Only the tools of this user's jp count.
func ChangedByTools(ctx context.Context, r *repo.Repo, id conversation.ID) (recorded, unrecorded []string, err error) {
	head, err := r.Store.Head(ctx, id)
	if err != nil {
		return nil, nil, err
	}
	events, err := r.Store.Load(ctx, head)
	if err != nil {
		return nil, nil, err
	}
	changed, left := map[string]bool{}, map[string]bool{}
	for _, e := range conversation.AfterAdoption(events) {
		response, is := e.Body.(*conversation.ToolCallResponse)
		if !is {
			continue
		}
		for _, c := range response.Changed {
			changed[repo.PlainPath(c.Path)] = true
			delete(left, repo.PlainPath(c.Path))
		}
		for _, l := range response.LeftOut {
			left[repo.PlainPath(l.Path)] = true
		}
	}
	return slices.Sorted(maps.Keys(changed)), slices.Sorted(maps.Keys(left)), nil
}
