package repo

import (
	"context"
	"slices"

	"jp/agent/problem"
	"jp/conversation"
	"jp/internal/action"
)

// NotAwaited leaves out, or refuses, the conversations whose result another one still waits for: without them
// its call would begin them again, and repeat their work. If both are to go, it lets them.
func (r States) NotAwaited(ctx context.Context, e *Host, infos []conversation.Info, leave bool) ([]conversation.Info, error) {
	var kept []conversation.Info
	for _, info := range infos {
		parent := info.Summary.Parent
		goes := slices.ContainsFunc(infos, func(i conversation.Info) bool { return i.ID == parent })
		switch {
		case info.Err != nil || parent == "" || goes || !r.Awaits(ctx, parent, info.ID):
			kept = append(kept, info)
		case leave:
			e.Note("%s works for %s, which waits for it; it is left alone.", info.ID, parent)
		default:
			return nil, problem.New(problem.ExitLocked, "locked", "%s works for %s, which waits for it.", info.ID, parent).About(info.ID).
				Hint(action.Continue(parent.Short()), "lets both go on").
				Hint(action.Discard(parent.Short()), "takes both turns back; then it can be deleted")
		}
	}
	return kept, nil
}

// Awaits reports whether an open call of a conversation works in another one.
func (r States) Awaits(ctx context.Context, id, child conversation.ID) bool {
	info, err := r.repo.Store.Info(ctx, id)
	if err != nil || len(info.Summary.Open) == 0 {
		return false
	}
	for e, err := range r.repo.Store.Backward(ctx, info.Head) {
		if err != nil || e.Seq < info.Summary.Open[0].Seq {
			return false
		}
		if b, is := e.Body.(*conversation.ToolStarted); is && b.Child == child {
			return slices.ContainsFunc(info.Summary.Open, func(c conversation.OpenCall) bool { return c.Seq == b.For })
		}
	}
	return false
}
