package agent

import (
	"context"
	"errors"

	"jp/agent/problem"
	"jp/agent/repo"
	"jp/agent/snapshot"
	"jp/conversation"
	"jp/fork"
	"jp/internal/action"
	"jp/turnloop"
)

// A target is the conversation of a run.
type target struct {
	run *run
	res *resources

	id      conversation.ID
	fresh   bool       // the conversation is still to be made
	forked  *fork.Fork // the fork that was made for this run, or nil
	resumes bool       // the user chose to resume the conversation's turn, before anything is asked
	written *string    // the text of an editor from before the conversation changed, or nil
}

func newTarget(r *run, id conversation.ID) *target { return &target{run: r, res: r.res, id: id} }

// find finds the conversation to ask in.
func (t *target) find(ctx context.Context) error {
	if t.run.opts.Target.Fork != "" {
		return t.findFork(ctx)
	}
	if t.run.opts.Target.ID != "" {
		id, err := t.run.repo.Find().Resolve(ctx, t.run.env, t.run.opts.Target.ID)
		t.id = id
		return err
	}
	if !t.run.opts.Target.New {
		id, err := t.run.repo.Find().Visited(ctx, t.run.env, 0)
		if err == nil {
			t.id = id
			return nil
		}
		var none *problem.Error
		if !errors.As(err, &none) || none.Gone {
			return err
		}
		if t.run.opts.decision() != undecided {
			if id, is := t.run.repo.Find().Single(ctx, repo.Stopped); is && !t.run.opts.Resume.Discard {
				t.id = id
				return nil
			}
			t.id, err = t.run.repo.Find().PickOf(ctx, t.run.env, repo.Stopped)
			if errors.As(err, &none) && none.Exit == problem.ExitUsage {
				err = namingBroken(ctx, t.run.repo, t.run.opts)
			}
			return err
		}
	}
	var err error
	if t.id, t.fresh = t.run.opts.Target.NewID, true; t.id == "" {
		t.id, err = conversation.NewID(t.run.env.Now(), t.run.env.Random)
	}
	if err != nil || t.run.opts.Target.New {
		return err
	}
	return t.beforeNew(ctx)
}

// unwritable is the error of a question that cannot be recorded, with a command that asks it.
func (t *target) unwritable(err error) *problem.Error {
	ask := action.AskUnrecorded
	if !t.fresh && t.id != "" {
		ask = action.AskBeside(string(t.id))
	}
	return repo.Unwritable(err).Hint(ask, "and so does asking; nothing is recorded")
}

// known is the conversation's id, "" until it has a valid one.
func (t *target) known() conversation.ID {
	if t.run.opts.unrecorded() && t.fresh {
		return ""
	}
	return t.id
}

// ending is the result of the run. A new conversation without events, and a fork that was taken back, have
// names but no ref.
func (t *target) ending(ctx context.Context, outcome turnloop.Outcome, err error) Ending {
	e := Ending{Outcome: outcome, Err: err, ID: t.known(), Discard: t.run.opts.Resume.Discard && outcome.Turn == 0}
	if t.run.context != nil {
		e.Tokens, e.Window = t.run.context()
	}
	if e.ID != "" && outcome.Turn == 0 {
		if _, gone := t.run.repo.Store.Head(ctx, e.ID); errors.Is(gone, conversation.ErrNotFound) {
			e.ID = ""
		}
	}
	return e
}

// remember makes the conversation the session's. Processes in the background have no session.
func (t *target) remember() error {
	if t.run.background != nil || t.run.opts.unrecorded() || t.run.opts.Turn.Beside {
		return nil
	}
	return t.run.repo.Session(t.run.env).Use(t.id, t.run.env.Now())
}

// base is the commit that a new conversation branches off.
func (t *target) base(ctx context.Context, files *snapshot.Files) (string, error) {
	if !t.fresh || t.run.repo.Config.Snapshot.Base == "none" || files.Tree == nil {
		return "", nil
	}
	state, err := files.Tree.State(ctx)
	return state.Head, err
}
