package agent

import (
	"context"
	"errors"

	"jp/agent/problem"
	"jp/agent/resume"
	"jp/conversation"
	"jp/internal/action"
)

// awaitTools refuses to go on while a tool of the earlier run still works.
func (e *turn) awaitTools(ctx context.Context, ledger *conversation.Ledger) error {
	for _, call := range ledger.Open() {
		if !e.run.repo.Locks.ToolAlive(e.target.id, call.Event.Seq) {
			continue
		}
		if e.res.user == nil {
			return problem.New(problem.ExitLocked, "locked", "%s of the earlier run of %s is still running.", call.Request.Name, e.target.id).About(e.target.id).
				Hint(action.Continue(e.target.id.Short()), "when it has ended").Hint(action.Kill(e.target.id.Short()), "ends it")
		}
		if err := e.waitOrEnd(ctx, call); err != nil {
			return err
		}
	}
	return nil
}

// waitOrEnd lets the user decide about a tool that outlived jp.
func (e *turn) waitOrEnd(ctx context.Context, call *conversation.ToolCall) error {
	key, err := e.decide(ctx, UserDecision{
		Text:    resume.CallLine(call) + "\n  It is still running, from before.\n",
		Choices: []UserChoice{{'w', "wait for it"}, {'e', "end it"}, {'q', "quit, change nothing"}},
	})
	switch {
	case errors.Is(err, ErrUserLeft):
		return e.target.leftAlone()
	case err != nil && !errors.Is(err, ErrUserSilent):
		return e.target.choiceError(err)
	case key == 'w':
		return e.run.repo.Locks.AwaitTool(ctx, e.target.id, call.Event.Seq)
	case key == 'e':
		return e.run.repo.Locks.EndTool(ctx, e.target.id, call.Event.Seq)
	}
	return e.target.keepText(problem.New(problem.ExitLocked, "locked", "%s still runs; nothing was changed.", call.Request.Name).About(e.target.id))
}
