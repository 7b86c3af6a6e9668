package agent

import (
	"context"
	"errors"

	"jp/agent/action"
	"jp/agent/interrupted"
	"jp/agent/problem"
	"jp/conversation"
	"jp/internal/safetext"
)

// awaitTools refuses to go on while a tool of the earlier run still works.
func (l *loaded) awaitTools(ctx context.Context, ledger *conversation.Ledger) error {
	for _, call := range ledger.Open() {
		if !l.repo.Locks.ToolAlive(l.id, call.Event.Seq) {
			continue
		}
		if l.user == nil {
			return problem.New(problem.ExitLocked, "locked", "%s of the earlier run of %s is still running.", call.Request.Name, l.id).About(l.id).
				Hint(action.Continue(l.id.Short()), "when it has ended").Hint(action.Kill(l.id.Short()), "ends it")
		}
		if err := l.waitOrEnd(ctx, call); err != nil {
			return err
		}
	}
	return nil
}

// waitOrEnd lets the user decide about a tool that outlived jp.
func (l *loaded) waitOrEnd(ctx context.Context, call *conversation.ToolCall) error {
	key, err := l.user.Decide(ctx, UserDecision{
		Text:    safetext.Show(interrupted.CallTitle(call)) + "\n  It is still running, from before.\n",
		Choices: []UserChoice{{'w', "wait for it"}, {'e', "end it"}, {'q', "quit, change nothing"}},
	})
	switch {
	case errors.Is(err, ErrUserLeft):
		return l.leftAlone()
	case err != nil && !errors.Is(err, ErrUserSilent):
		return l.choiceError(err)
	case key == 'w':
		return l.repo.Locks.AwaitTool(ctx, l.id, call.Event.Seq)
	case key == 'e':
		return l.repo.Locks.EndTool(ctx, l.id, call.Event.Seq)
	}
	return l.keepText(problem.New(problem.ExitLocked, "locked", "%s still runs; nothing was changed.", call.Request.Name).About(l.id))
}
