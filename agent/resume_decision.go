package agent

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"jp/agent/interrupted"
	"jp/agent/problem"
	"jp/agent/repo"
	"jp/conversation"
	"jp/internal/safefile"
)

// offer shows an incomplete turn to the user and asks what becomes of it. The end of the
// input changes nothing.
func (q *query) offer(ctx context.Context) (decision, error) {
	choices := q.choices()
	record := q.record()
	truth, err := q.truth(ctx, record)
	if err != nil {
		return decideQuit, err
	}
	d := UserDecision{Text: interrupted.Text(q.ctx, q.repo, q.id, q.tail, record, truth), List: true, Help: offerHelp}
	for _, c := range choices {
		d.Choices = append(d.Choices, UserChoice{c.letter, c.text})
	}
	key, err := q.user.Decide(ctx, d)
	switch {
	case errors.Is(err, ErrUserLeft):
		return decideQuit, q.keepText(q.leftAlone())
	case errors.Is(err, ErrUserSilent):
		return decideQuit, nil
	case err != nil:
		return decideQuit, q.choiceError(err)
	}
	for _, c := range choices {
		if c.letter == key {
			return c.decision, nil
		}
	}
	return decideQuit, nil
}

// A choice is one answer to the offer.
type choice struct {
	letter   rune
	text     string
	decision decision
}

func (q *query) choices() []choice {
	resume := "resume: " + map[conversation.Status]string{
		conversation.StatusInput:    "ask the question, then go on with what is left",
		conversation.StatusTools:    "go on with the tools that are left",
		conversation.StatusFollowUp: "send the results to the model",
		conversation.StatusResponse: "ask the model again",
	}[interrupted.StatusOf(q.ctx, q.repo, q.id, q.tail)]
	discard := fmt.Sprintf("discard turn %d and start fresh (it stays in the history)", q.tail.Number)
	if q.asks() {
		resume = fmt.Sprintf("finish turn %d, then ask your new question", q.tail.Number)
		discard = fmt.Sprintf("discard turn %d, then ask your new question (it stays in the history)", q.tail.Number)
	}
	choices := []choice{{'r', resume, decideResume}, {'d', discard, decideDiscard}}
	if q.tail.Status() == conversation.StatusResponse {
		choices = append(choices, choice{'e', "edit the question and ask again", decideEdit})
	}
	return append(choices, choice{'q', "quit, change nothing", decideQuit})
}

const offerHelp = `  A turn that was broken off can be gone on with: what has a result is not run again,
  an open question is asked again, and the model is told what moved in the files.
  To try another way from an earlier event, leave this with q and look for it in jp log.
`

// keepText keeps the question that was given on the command line for later.
func (q *query) keepText(f *problem.Error) error {
	text := strings.TrimSpace(strings.Join(q.opts.Text, " "))
	if text == "" {
		return f
	}
	err := q.repo.Own().Replace(repo.DraftsFolder, q.draft(), []byte(text+"\n"), safefile.Options{Volatile: true})
	if err != nil {
		return fmt.Errorf("keep your question: %w", err)
	}
	f.Message += " Your question is kept."
	return f.Hint("jp query --edit", "opens it again")
}
