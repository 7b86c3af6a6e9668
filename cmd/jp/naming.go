package main

import (
	"context"
	"errors"
	"slices"

	"jp/conversation"
)

// namingBroken says that a conversation has to be named, and which ones have a
// turn that was broken off.
func (r *repo) namingBroken(ctx context.Context, o queryOptions) error {
	command := "jp continue "
	if o.discardTurn {
		command = "jp discard "
	}
	return r.find().naming(ctx, command, func(s statusJSON) bool { return s.State != "idle" && s.PID == nil })
}

// naming says that a conversation has to be named, and which ones could be meant.
func (r finder) naming(ctx context.Context, command string, meant func(statusJSON) bool) error {
	infos, err := r.store.List(ctx, conversation.ScopeLive)
	if err != nil {
		return err
	}
	f := usage("this session has no conversation yet; say which one is meant.")
	slices.SortFunc(infos, func(a, b conversation.Info) int { return b.Summary.LastEventAt.Compare(a.Summary.LastEventAt) })
	for _, i := range infos {
		if l := r.states().list(ctx, i); i.Err == nil && l.Local && meant(l.Status) && len(f.hints) < 5 {
			f.hint(command+l.ShortID, oneLine(title(l))+" · "+l.Status.words())
		}
	}
	return f.hint("jp ls", "all conversations")
}

// resolveRunning finds the conversation that a word stands for. Where the session
// has none, and nobody can choose, it says which ones a command could be about.
func (r finder) resolveRunning(ctx context.Context, e *host, word, command string, meant func(statusJSON) bool) (conversation.ID, error) {
	id, err := r.resolve(ctx, e, word)
	var none *failure
	if word == "" && errors.As(err, &none) && none.exit == exitUsage {
		err = r.naming(ctx, command, meant)
	}
	return id, err
}

func runs(s statusJSON) bool { return s.PID != nil }

func waits(s statusJSON) bool { return s.State == "waiting_for_input" }
