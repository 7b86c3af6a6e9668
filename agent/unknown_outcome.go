package agent

import (
	"context"
	"errors"
	"strings"

	"jp/agent/problem"
	"jp/agent/resume"
	"jp/conversation"
	"jp/reconcile"
	"jp/turnloop"
)

// decideUnknown decides about every call of unknown outcome, before the first record: by --pending, by the
// user, or by telling the model.
func (i *resumption) decideUnknown(ctx context.Context) error {
	i.resolved = map[int]turnloop.Resolution{}
	for _, found := range i.plan.Calls {
		if found.Class != reconcile.Unknown {
			continue
		}
		resolution, err := i.resolution(ctx, found)
		if err != nil {
			return err
		}
		i.resolved[found.Call.Event.Seq] = resolution
	}
	return nil
}

func (i *resumption) resolution(ctx context.Context, found reconcile.Call) (turnloop.Resolution, error) {
	told := turnloop.Resolution{Text: reconcile.Evidence(found)}
	t, ok := i.turn.registry.Lookup(found.Call.Request.Name)
	switch {
	case !ok, i.run.opts.Resume.Pending == "report":
		return told, nil
	case i.run.opts.Resume.Pending == "run" && !t.Definition().Exclusive:
		return turnloop.Resolution{Again: true}, nil
	case i.res.user == nil:
		return told, nil
	}
	return i.askUnknown(ctx, found, told)
}

// unknown gives the turn loop the decision about a call, once.
func (i *resumption) unknown(_ context.Context, call *conversation.ToolCall) (turnloop.Resolution, error) {
	if r, ok := i.resolved[call.Event.Seq]; ok {
		delete(i.resolved, call.Event.Seq)
		return r, nil
	}
	return turnloop.Resolution{Text: reconcile.Evidence(i.plan.Find(call))}, nil
}

const unknownHelp = `  a  The tool runs once more, from its start, whatever it has done by now.
  r  The model gets an error that says which files moved, and is asked to look first.
  w  You write what came of it; the model takes that for the result.
`

func (i *resumption) askUnknown(ctx context.Context, found reconcile.Call, told turnloop.Resolution) (turnloop.Resolution, error) {
	none := turnloop.Resolution{}
	text := resume.CallLine(found.Call) + "\n  It was started, and its outcome is unknown.\n"
	files := found.Files(resume.PathList)
	for _, sentence := range files {
		text += "  " + sentence + "\n"
	}
	if len(files) == 0 {
		text += "  Files: " + resume.FilesWords(i.plan.Changed) + ".\n"
	}
	for {
		key, err := i.turn.decide(ctx, UserDecision{Text: text, Help: unknownHelp, Line: 'w', Risky: 'a', Choices: []UserChoice{
			{'a', "run it again"}, {'r', "report it to the model"}, {'w', "write the result by hand"}, {'q', "quit"},
		}})
		text = ""
		switch {
		case errors.Is(err, ErrUserLeft):
			return none, i.target.keepText(i.target.leftAlone())
		case err != nil && !errors.Is(err, ErrUserSilent):
			return none, i.target.choiceError(err)
		}
		switch key {
		case 'a':
			return turnloop.Resolution{Again: true}, nil
		case 'r':
			return told, nil
		case 'w':
			line, err := i.res.user.Line(ctx, i.target.id, "The result, for the model: ")
			switch {
			case errors.Is(err, ErrUserLeft):
				return none, i.target.keepText(i.target.leftAlone())
			case errors.Is(err, ErrUserSilent):
				return none, i.target.keepText(problem.Unchanged(problem.ExitDecision, "incomplete_turn").About(i.target.id))
			case err != nil:
				return none, i.target.choiceError(err)
			}
			if line = strings.TrimSpace(line); line != "" {
				return turnloop.Resolution{Text: "The user says how this call ended: " + line, ByUser: true}, nil
			}
		default:
			return none, i.target.keepText(problem.New(problem.ExitDecision, "incomplete_turn", "nothing was changed.").About(i.target.id))
		}
	}
}
