package agent

import (
	"context"
	"errors"

	"jp/agent/action"
	"jp/agent/drafts"
	"jp/agent/problem"
	"jp/agent/repo"
	"jp/agent/snapshot"
	"jp/conversation"
	"jp/fork"
	"jp/process"
	"jp/turnloop"
)

// A target is the conversation of a run, with its lock.
type target struct {
	*run
	id     conversation.ID
	fresh  bool         // the conversation does not exist yet
	slot   *drafts.Slot // of its draft, nil until there is one
	forked *fork.Fork   // it was made for this run; nil where it was not
	// resumes says that the user chose to go on with its turn, before anything is asked.
	resumes bool
	written *string       // in an editor, before the conversation changed; nil: nothing was
	held    *process.Lock // nil until it is taken; a new conversation is taken when its turn begins
}

// find finds the conversation to ask in.
func (t *target) find(ctx context.Context) error {
	if t.opts.Fork != "" {
		return t.findFork(ctx)
	}
	if t.opts.ID != "" {
		id, err := t.repo.Find().Resolve(ctx, t.env, t.opts.ID)
		t.id = id
		return err
	}
	if !t.opts.New {
		id, err := t.repo.Find().Visited(ctx, t.env, 0)
		if err == nil {
			t.id = id
			return nil
		}
		var none *problem.Error
		if !errors.As(err, &none) || none.Gone {
			return err
		}
		if t.opts.decision() != undecided {
			t.id, err = t.repo.Find().PickOf(ctx, t.env, repo.Stopped)
			if errors.As(err, &none) && none.Exit == problem.ExitUsage {
				err = namingBroken(ctx, t.repo, t.opts)
			}
			return err
		}
	}
	var err error
	if t.id, t.fresh = t.opts.NewID, true; t.id == "" {
		t.id, err = conversation.NewID(t.env.Now(), t.env.Random)
	}
	if err != nil || t.opts.New {
		return err
	}
	return t.beforeNew(ctx)
}

// unwritable says that the question cannot be recorded, and how it can be asked.
func (t *target) unwritable(err error) *problem.Error {
	ask := action.AskUnrecorded
	if !t.fresh && t.id != "" {
		ask = action.AskBeside(string(t.id))
	}
	return repo.Unwritable(err).Hint(ask, "and so does asking; nothing is recorded")
}

// known is the conversation's id, "" until it has a valid one.
func (t *target) known() conversation.ID {
	if t.opts.unrecorded() && t.fresh {
		return ""
	}
	return t.id
}

// ending is what the run came to. A new conversation that nothing was recorded in, and a
// fork that was taken back, are not there, though they have names.
func (t *target) ending(outcome turnloop.Outcome, err error) Ending {
	e := Ending{Outcome: outcome, Err: err, ID: t.known(), Discard: t.opts.DiscardTurn && outcome.Turn == 0}
	if t.context != nil {
		e.Tokens, e.Window = t.context()
	}
	if e.ID != "" && outcome.Turn == 0 {
		if _, gone := t.repo.Store.Head(t.ctx, e.ID); errors.Is(gone, conversation.ErrNotFound) {
			e.ID = ""
		}
	}
	return e
}

// remember makes the conversation the session's. Who is in the background has none.
func (t *target) remember() error {
	if t.background != nil || t.opts.unrecorded() {
		return nil
	}
	return t.repo.Session(t.env).Use(t.id, t.env.Now())
}

// base is the commit that a new conversation branches off.
func (t *target) base(ctx context.Context, files *snapshot.Files) (string, error) {
	if !t.fresh || t.repo.Config.Snapshot.Base == "none" || files.Tree == nil {
		return "", nil
	}
	state, err := files.Tree.State(ctx)
	return state.Head, err
}
