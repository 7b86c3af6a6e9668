package agent

import (
	"context"
	"errors"

	"jp/agent/agentsmd"
	"jp/agent/drafts"
	"jp/agent/presence"
	"jp/agent/repo"
	"jp/agent/skillset"
	"jp/agent/snapshot"
	"jp/agent/toolset"
	"jp/conversation"
	"jp/process/attach"
	"jp/tool"
	"jp/tool/delegate"
	"jp/turnloop"
)

// An equipped conversation has what its turns work with, opened once each.
type equipped struct {
	*loaded
	servers      *toolset.Servers
	delegates    delegate.Runner // of the tool delegate; nil where there is no such tool
	registry     *tool.Registry  // nil until the servers were asked for their tools
	presence     *presence.Presence
	model        string
	instructions *agentsmd.Source
	skills       *skillset.Set // nil until they were looked for
	drafts       *drafts.AnswerKeeper
	listed       *snapshot.UntrackedKeeper
	toldOutlived []conversation.ID // of whose tools the user knows
	outcome      turnloop.Outcome  // of the turn that ran last
}

// close ends what the turns worked with, of which err came.
func (e *equipped) close(err error) {
	e.servers.Close()
	e.skills.Close()
	e.front.Over()
	e.closeKeepers()
	if errors.Is(err, errMoved) {
		err = nil
	}
	bye := attach.Closing{Reason: "the turn has ended", Ended: true, Status: string(e.outcome.Status)}
	if err != nil {
		f := repo.ProblemOf(err)
		bye.Exit, bye.Text = f.Exit, f.Message
		bye.Reason = "the process has ended"
	}
	e.presence.Close(bye)
}

// closeKeepers ends what keeps files of a turn up to date.
func (e *equipped) closeKeepers() {
	e.drafts.Close()
	e.listed.Close()
}

// unlocked lets others use the conversation while the user is asked, before its turn runs. When the user has answered it
// takes the lock again. It is errMoved if the conversation is another one by then.
func (e *equipped) unlocked(ctx context.Context, ask func() error) error {
	if e.held == nil || e.delegation != nil || e.presence.Published() {
		return ask()
	}
	id, head := e.id, e.head
	e.held.Release()
	e.held = nil
	if err := ask(); err != nil {
		return err
	}
	if err := e.acquireLock(ctx); err != nil {
		return err
	}
	if now, err := e.repo.Store.Head(ctx, e.id); err != nil || e.id != id || now != head {
		return errMoved // what is wrong is found when it is loaded
	}
	return nil
}

// decide lets the user choose, with the conversation unlocked. Who quits needs no lock.
func (e *equipped) decide(ctx context.Context, d UserDecision) (key rune, err error) {
	err = e.unlocked(ctx, func() (err error) {
		if key, err = e.user.Decide(ctx, d); err == nil && key == 'q' {
			return ErrUserSilent
		}
		return err
	})
	return key, err
}
