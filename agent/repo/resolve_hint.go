package repo

import (
	"context"
	"errors"
	"slices"

	"jp/agent/problem"
	"jp/conversation"
	"jp/internal/action"
)

// Naming is the error of a missing name, with the conversations that are meant.
func (r Finder) Naming(ctx context.Context, about func(string) action.Action, meant func(Status) bool) error {
	infos, err := r.repo.Store.List(ctx, conversation.ScopeLive)
	if err != nil {
		return err
	}
	f := problem.Usage("this session has no conversation yet; say which one is meant.")
	slices.SortFunc(infos, func(a, b conversation.Info) int { return b.Summary.LastEventAt.Compare(a.Summary.LastEventAt) })
	for _, i := range infos {
		if l := r.repo.States().List(ctx, i); i.Err == nil && l.Local && meant(l.Status) && len(f.Hints) < 5 {
			f.Hint(about(l.ShortID), problem.OneLine(Title(l))+" · "+l.Status.Words())
		}
	}
	return f.Hint(action.List, "all conversations")
}

// ResolveRunning finds the conversation that a word stands for. If the session has none, and the user cannot
// choose, the error lists the conversations that the command could be about. With single, it takes the only
// such conversation without asking.
func (r Finder) ResolveRunning(ctx context.Context, e *Host, word string, about func(string) action.Action, meant func(Status) bool, single bool) (conversation.ID, error) {
	var none *problem.Error
	if word != "" {
		return r.Resolve(ctx, e, word)
	}
	id, err := r.Visited(ctx, e, 0)
	if err == nil || IsGone(err) {
		return id, err
	}
	if id, is := r.Single(ctx, meant); single && is {
		return id, nil
	}
	id, err = r.PickOf(ctx, e, meant)
	if errors.As(err, &none) && none.Exit == problem.ExitUsage {
		err = r.Naming(ctx, about, meant)
	}
	return id, err
}

func Runs(s Status) bool { return s.PID != nil }

func Waits(s Status) bool { return s.State == "waiting_for_input" }

// Stopped is the state of a turn that can be resumed: it has no process.
func Stopped(s Status) bool { return s.State != "idle" && s.PID == nil }
