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
func (e *equipped) awaitTools(ctx context.Context, ledger *conversation.Ledger) error {
	for _, call := range ledger.Open() {
		if !e.repo.Locks.ToolAlive(e.id, call.Event.Seq) {
			continue
		}
		if e.user == nil {
			return problem.New(problem.ExitLocked, "locked", "%s of the earlier run of %s is still running.", call.Request.Name, e.id).About(e.id).
				Hint(action.Continue(e.id.Short()), "when it has ended").Hint(action.Kill(e.id.Short()), "ends it")
		}
		if err := e.waitOrEnd(ctx, call); err != nil {
			return err
		}
	}
	return nil
}

// waitOrEnd lets the user decide about a tool that outlived jp.
func (e *equipped) waitOrEnd(ctx context.Context, call *conversation.ToolCall) error {
	key, err := e.decide(ctx, UserDecision{
		Text:    safetext.Show(interrupted.CallTitle(call)) + "\n  It is still running, from before.\n",
		Choices: []UserChoice{{'w', "wait for it"}, {'e', "end it"}, {'q', "quit, change nothing"}},
	})
	switch {
	case errors.Is(err, ErrUserLeft):
		return e.leftAlone()
	case err != nil && !errors.Is(err, ErrUserSilent):
		return e.choiceError(err)
	case key == 'w':
		return e.repo.Locks.AwaitTool(ctx, e.id, call.Event.Seq)
	case key == 'e':
		return e.repo.Locks.EndTool(ctx, e.id, call.Event.Seq)
	}
	return e.keepText(problem.New(problem.ExitLocked, "locked", "%s still runs; nothing was changed.", call.Request.Name).About(e.id))
}
