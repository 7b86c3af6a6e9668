package agent

import (
	"context"
	"errors"
	"fmt"

	"jp/agent/resume"
	"jp/conversation"
)

// offer shows an incomplete turn to the user and asks for the decision. The end of the input changes nothing.
func (i *resumption) offer(ctx context.Context) (decision, error) {
	choices := i.choices(ctx)
	record := i.history.record()
	truth, err := i.truth(ctx, record)
	if err != nil {
		return decideQuit, err
	}
	d := UserDecision{Text: resume.InterruptedText(ctx, i.run.repo, i.target.id, i.history.tail, record, truth), List: true, Help: offerHelp}
	for _, c := range choices {
		d.Choices = append(d.Choices, UserChoice{c.letter, c.text})
		if c.decision == decideEdit {
			d.Editor = c.letter
		}
	}
	key, err := i.turn.decide(ctx, d)
	switch {
	case errors.Is(err, ErrUserLeft):
		return decideQuit, i.target.keepText(i.target.leftAlone())
	case errors.Is(err, ErrUserSilent):
		return decideQuit, nil
	case err != nil:
		return decideQuit, i.target.choiceError(err)
	}
	for _, c := range choices {
		if c.letter == key {
			return c.decision, nil
		}
	}
	return decideQuit, nil
}

type choice struct {
	letter   rune
	text     string
	decision decision
}

func (i *resumption) choices(ctx context.Context) []choice {
	resume := "resume: " + map[conversation.Status]string{
		conversation.StatusInput:    "ask the question, then go on with what is left",
		conversation.StatusTools:    "go on with the tools that are left",
		conversation.StatusFollowUp: "send the results to the model",
		conversation.StatusResponse: "ask the model again",
	}[resume.StatusOf(ctx, i.run.repo, i.target.id, i.history.tail)]
	discard := fmt.Sprintf("discard turn %d and start fresh (it stays in the history)", i.history.tail.Number)
	if i.run.opts.asks() {
		resume = fmt.Sprintf("finish turn %d, then ask your new question", i.history.tail.Number)
		discard = fmt.Sprintf("discard turn %d, then ask your new question (it stays in the history)", i.history.tail.Number)
	}
	choices := []choice{{'r', resume, decideResume}, {'d', discard, decideDiscard}}
	if i.history.tail.Status() == conversation.StatusResponse {
		choices = append(choices, choice{'e', "edit the question and ask again", decideEdit})
	}
	return append(choices, choice{'q', "quit, change nothing", decideQuit})
}

// offerHelp has one line for each paragraph: the terminal wraps it.
const offerHelp = "  jp can resume the turn: it runs nothing again that has a result, asks an open question again, and tells the model what changed in the files.\n" +
	"  To try another way from an earlier event, leave this with q and look for it in the log.\n"
