package agent

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"jp/agent/problem"
	"jp/agent/repo"
	"jp/conversation"
	"jp/internal/safefile"
	"jp/internal/safetext"
	"jp/reconcile"
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
	d := UserDecision{Text: q.offerText(record, truth), List: true, Help: offerHelp}
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
	}[statusOf(q.ctx, q.repo, q.id, q.tail)]
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

// offerText is what the turn has done and waits for.
func (q *query) offerText(record reconcile.Record, truth reconcile.Truth) string {
	var b strings.Builder
	ago := longAgo(q.env.Now().Sub(q.stoppedAt))
	if e := q.tail.Ledger().Interrupted; e != nil && e.Body.(*conversation.TurnInterrupted).By == conversation.ByUser {
		fmt.Fprintf(&b, "You aborted turn %d of %s, %s.\n", q.tail.Number, q.id, ago)
	} else {
		fmt.Fprintf(&b, "%s stopped in turn %d, %s.\n", q.id, q.tail.Number, ago)
	}
	for _, call := range q.tail.Ledger().ToolCalls {
		title := safetext.Show(callTitle(call))
		words := cmp.Or(childState(q.ctx, q.repo, call, title), callState(call, title, truth.Alive[call.Event.Seq]))
		fmt.Fprintf(&b, "  %s%s\n", words, effectWords(call))
		if said := stateWords(truth.Delegates[call.Event.Seq].State); said != "" {
			fmt.Fprintf(&b, "      it said: %s\n", safetext.Show(said))
		}
	}
	if record.CutOff {
		b.WriteString("  " + CutOffWords + "\n")
	}
	if words := approvedWords(record.Ledger.Approved); words != "" {
		b.WriteString("  Its tools: " + words + "\n")
	}
	b.WriteString(placeText(q.repo, record, truth) + "\n")
	return b.String()
}

// approvedWords say which tool runs of a turn were approved in advance, "" for none.
func approvedWords(a conversation.Approval) string {
	switch {
	case len(a) == 0:
		return ""
	case a.All():
		return "approved in advance (-y)"
	}
	return "approved in advance (-y): " + safetext.Show(strings.Join(a, ", "))
}

// effectWords are what a call that came to its end did, " (+7 -3)"; "" where
// the record does not say.
func effectWords(call *conversation.ToolCall) string {
	if call.Open() {
		return ""
	}
	effect, ok := strings.CutPrefix(call.Response.Subject, callTitle(call)+": ")
	if !ok {
		return ""
	}
	return " (" + safetext.Show(effect) + ")"
}

// longAgo says how long ago something was, in words.
func longAgo(d time.Duration) string {
	for _, unit := range []struct {
		size time.Duration
		noun string
	}{{24 * time.Hour, "day"}, {time.Hour, "hour"}, {time.Minute, "minute"}, {time.Second, "second"}} {
		if n := int(d / unit.size); n > 0 {
			return conversation.Count(n, unit.noun) + " ago"
		}
	}
	return "just now"
}

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
