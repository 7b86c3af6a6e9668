package agent

import (
	"context"
	"errors"

	"jp/agent/contextfiles"
	"jp/agent/repo"
	"jp/conversation"
	"jp/process/attach"
	"jp/tool"
	"jp/tool/work"
	"jp/turnloop"
)

// A turn has the model, tools and instructions of a conversation's turn, each opened once.
type turn struct {
	run     *run
	res     *resources
	target  *target
	history *history

	model        string
	delegates    work.Runner    // of the tool delegate; nil: that tool is missing
	registry     *tool.Registry // nil until the servers were asked for their tools
	rules        *rules         // of the user's, for calls without a question
	instructions *contextfiles.Instructions
	toldOutlived []conversation.ID // of whose tools the user knows
	outcome      turnloop.Outcome  // of the turn that ran last
}

func newTurn(h *history) *turn {
	return &turn{run: h.run, res: h.res, target: h.target, history: h}
}

// close ends the resources of the turns, whose error is err.
func (e *turn) close(err error) {
	r := e.res
	r.servers.Close()
	r.skills.Close()
	e.run.front.Over()
	r.closeKeepers()
	if errors.Is(err, errMoved) {
		err = nil
	}
	bye := attach.Closing{Reason: "the turn has ended", Ended: true, Status: string(e.outcome.Status)}
	if err != nil {
		f := repo.ProblemOf(err)
		bye.Exit, bye.Text = f.Exit, f.Message
		bye.Reason = "the process has ended"
	}
	r.presence.Close(bye)
	r.servers, r.skills, r.presence = nil, nil, nil
}

// unlocked lets others use the conversation while the user is asked, before its turn runs. When the user has
// answered it takes the lock again. It returns errMoved if the conversation has changed by then.
func (e *turn) unlocked(ctx context.Context, ask func() error) error {
	if e.res.held == nil || e.run.delegation != nil || e.res.presence.Published() {
		return ask()
	}
	id, head := e.target.id, e.history.head
	e.res.held.Release()
	e.res.held = nil
	if err := ask(); err != nil {
		return err
	}
	if err := e.target.acquireLock(ctx); err != nil {
		return err
	}
	if now, err := e.run.repo.Store.Head(ctx, e.target.id); err != nil || e.target.id != id || now != head {
		return errMoved // loading finds the error
	}
	return nil
}

// decide lets the user choose, with the conversation unlocked. Quitting needs no lock.
func (e *turn) decide(ctx context.Context, d UserDecision) (key rune, err error) {
	err = e.unlocked(ctx, func() (err error) {
		if key, err = e.res.user.Decide(ctx, d); err == nil && key == 'q' {
			return ErrUserSilent
		}
		return err
	})
	return key, err
}
