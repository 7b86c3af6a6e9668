package agent

import (
	"context"
	"errors"
	"strings"

	"jp/agent/interrupted"
	"jp/agent/problem"
	"jp/conversation"
	"jp/internal/safetext"
	"jp/reconcile"
	"jp/turnloop"
)

// awaitTools refuses to go on while a tool of the earlier run still works.
func (q *query) awaitTools(ctx context.Context, ledger *conversation.Ledger) error {
	for _, call := range ledger.Open() {
		if !q.repo.Locks.ToolAlive(q.id, call.Event.Seq) {
			continue
		}
		if q.user == nil {
			return problem.New(problem.ExitLocked, "locked", "%s of the earlier run of %s is still running.", call.Request.Name, q.id).About(q.id).
				Hint("jp continue "+q.id.Short(), "when it has ended").Hint("jp kill "+q.id.Short(), "ends it")
		}
		if err := q.waitOrEnd(ctx, call); err != nil {
			return err
		}
	}
	return nil
}

// waitOrEnd lets the user decide about a tool that outlived jp.
func (q *query) waitOrEnd(ctx context.Context, call *conversation.ToolCall) error {
	key, err := q.user.Decide(ctx, UserDecision{
		Text:    safetext.Show(interrupted.CallTitle(call)) + "\n  It is still running, from before.\n",
		Choices: []UserChoice{{'w', "wait for it"}, {'e', "end it"}, {'q', "quit, change nothing"}},
	})
	switch {
	case errors.Is(err, ErrUserLeft):
		return q.leftAlone()
	case err != nil && !errors.Is(err, ErrUserSilent):
		return q.choiceError(err)
	case key == 'w':
		return q.repo.Locks.AwaitTool(ctx, q.id, call.Event.Seq)
	case key == 'e':
		return q.repo.Locks.EndTool(ctx, q.id, call.Event.Seq)
	}
	return q.keepText(problem.New(problem.ExitLocked, "locked", "%s still runs; nothing was changed.", call.Request.Name).About(q.id))
}

// decideUnknown decides about every call whose outcome nobody knows, before
// anything is recorded: as --pending says, as the user says, or by telling the
// model.
func (q *query) decideUnknown(ctx context.Context) error {
	q.resolved = map[int]turnloop.Resolution{}
	for _, found := range q.plan.Calls {
		if found.Class != reconcile.Unknown {
			continue
		}
		resolution, err := q.resolution(ctx, found)
		if err != nil {
			return err
		}
		q.resolved[found.Call.Event.Seq] = resolution
	}
	return nil
}

func (q *query) resolution(ctx context.Context, found reconcile.Call) (turnloop.Resolution, error) {
	told := turnloop.Resolution{Text: reconcile.Evidence(found)}
	t, ok := q.registry.Lookup(found.Call.Request.Name)
	switch {
	case !ok, q.opts.Pending == "report":
		return told, nil
	case q.opts.Pending == "run" && !t.Definition().Exclusive:
		return turnloop.Resolution{Again: true}, nil
	case q.user == nil:
		return told, nil
	}
	return q.askUnknown(ctx, found, told)
}

// again are the calls that were decided to run again.
func (q *query) again() map[int]bool {
	again := map[int]bool{}
	for seq, r := range q.resolved {
		if r.Again {
			again[seq] = true
		}
	}
	return again
}

// unknown gives the turn loop what was decided about a call, once.
func (q *query) unknown(_ context.Context, call *conversation.ToolCall) (turnloop.Resolution, error) {
	if r, ok := q.resolved[call.Event.Seq]; ok {
		delete(q.resolved, call.Event.Seq)
		return r, nil
	}
	return turnloop.Resolution{Text: reconcile.Evidence(q.plan.Find(call))}, nil
}

const unknownHelp = `  a  The tool runs once more, from its start, whatever it has done by now.
  r  The model gets an error that says which files moved, and is asked to look first.
  w  You write what came of it; the model takes that for the result.
`

func (q *query) askUnknown(ctx context.Context, found reconcile.Call, told turnloop.Resolution) (turnloop.Resolution, error) {
	none := turnloop.Resolution{}
	text := safetext.Show(interrupted.CallTitle(found.Call)) + "\n  It was started, and nobody knows what it did.\n"
	files := found.Files(interrupted.PathList)
	for _, sentence := range files {
		text += "  " + sentence + "\n"
	}
	if len(files) == 0 {
		text += "  Files: " + interrupted.FilesWords(q.plan.Changed) + ".\n"
	}
	for {
		key, err := q.user.Decide(ctx, UserDecision{Text: text, Help: unknownHelp, Choices: []UserChoice{
			{'a', "run it again"}, {'r', "report it to the model"}, {'w', "write the result by hand"}, {'q', "quit"},
		}})
		text = ""
		switch {
		case errors.Is(err, ErrUserLeft):
			return none, q.keepText(q.leftAlone())
		case err != nil && !errors.Is(err, ErrUserSilent):
			return none, q.choiceError(err)
		}
		switch key {
		case 'a':
			return turnloop.Resolution{Again: true}, nil
		case 'r':
			return told, nil
		case 'w':
			line, err := q.user.Line(ctx, "The result, for the model: ")
			switch {
			case errors.Is(err, ErrUserLeft):
				return none, q.keepText(q.leftAlone())
			case errors.Is(err, ErrUserSilent):
				return none, q.keepText(problem.Unchanged(problem.ExitDecision, "incomplete_turn").About(q.id))
			case err != nil:
				return none, q.choiceError(err)
			}
			if line = strings.TrimSpace(line); line != "" {
				return turnloop.Resolution{Text: "The user says how this call ended: " + line, ByUser: true}, nil
			}
		default:
			return none, q.keepText(problem.New(problem.ExitDecision, "incomplete_turn", "nothing was changed.").About(q.id))
		}
	}
}
