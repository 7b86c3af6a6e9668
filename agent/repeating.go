package agent

import (
	"context"
	"errors"

	"jp/agent/problem"
	"jp/internal/safetext"
	"jp/turnloop"
)

// askToContinue asks the person at the terminal whether the turn goes on with a model that repeats itself.
// Without a person it is nil, and the turn ends.
func (t *target) askToContinue() func(ctx context.Context, again *turnloop.Repeating) (bool, error) {
	u := t.res.user
	if u == nil {
		return nil
	}
	return func(ctx context.Context, again *turnloop.Repeating) (bool, error) {
		d := UserDecision{
			Text:    "jp asks before it goes on: " + safetext.Show(problem.OneLine(again.Error())) + "\n",
			Line:    'r',
			Choices: []UserChoice{{'c', "go on"}, {'r', "reply to the model"}, {'s', "stop the turn"}},
			Help: "c  jp tells the model that it repeats itself, and asks it again.\n" +
				"r  you tell the model what to do instead.\n" +
				"s  the turn ends here. Everything in it stays, and your next question goes on from it.\n",
		}
		for {
			key, err := u.Decide(ctx, d)
			switch {
			case errors.Is(err, ErrUserGone):
				return false, &turnloop.Interrupt{Signal: "SIGHUP"}
			case errors.Is(err, ErrUserLeft):
				return false, &turnloop.Interrupt{Signal: "SIGINT"}
			case errors.Is(err, ErrUserSilent):
				return false, nil
			case err != nil || key != 'r':
				return key == 'c', err
			}
			switch text, err := u.Line(ctx, t.id, "Your reply: "); {
			case errors.Is(err, ErrUserGone):
				return false, &turnloop.Interrupt{Signal: "SIGHUP"}
			case errors.Is(err, ErrUserLeft), errors.Is(err, ErrUserSilent):
			case err != nil:
				return false, err
			case text != "":
				return false, &turnloop.UserCommand{Kind: turnloop.CommandReply, Text: text}
			}
		}
	}
}
