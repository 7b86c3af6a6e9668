package chat

import (
	"fmt"
	"strings"
	"time"

	"jp/agent"
	"jp/agent/problem"
	"jp/agent/repo"
	"jp/cmd/jp/internal/terminal"
	"jp/cmd/jp/internal/ui"
	"jp/conversation"
	"jp/internal/action"
	"jp/internal/safetext"
)

// answerRows is how much of the last answer is shown.
const answerRows = 6

// welcome says where the person is, how the last turn ended, and what waits for them.
func (c *chat) welcome(r *repo.Repo, o agent.Overview) {
	out, p := c.env.Results(), c.env.Palette(c.env.Stdout)
	width := c.env.Columns(c.env.Stdout)
	place := problem.OneLine(r.Place())
	if o.ID == "" {
		fmt.Fprintln(out, safetext.Fit("new conversation · "+place, width))
	} else {
		words := []string{string(o.ID), fmt.Sprintf("turn %d", o.Listing.Turns)}
		recorded := ""
		if o.Listing.Model != nil {
			recorded = *o.Listing.Model
		}
		if model := agent.NextModel(r, c.options.Request, recorded); model != "" {
			words = append(words, model)
		}
		fmt.Fprintln(out, terminal.Wrap(p.Dim(problem.OneLine(strings.Join(words, " · ")+" · "+place)), width))
		fmt.Fprintln(out, safetext.Fit(p.Bold(problem.OneLine(repo.Title(o.Listing))), width))
		if strings.TrimSpace(o.Answer) != "" {
			lastAnswer(c.env, o.Answer)
		}
	}
	if line := waiting(c.env.Now(), o.Listing, o.Turn); line != "" {
		fmt.Fprintln(out, terminal.Wrap(p.Yellow(line), width))
	}
	for _, s := range o.Others {
		fmt.Fprintln(out, terminal.Wrap(p.Dim(fmt.Sprintf("also %s   %s", s.Words, s.Action)), width))
	}
	fmt.Fprintln(out)
}

// lastAnswer shows the end of the last answer.
func lastAnswer(e *ui.Env, answer string) {
	v, laidOut := e.OnScreen(&repo.View{}), new(strings.Builder)
	ui.NewTurn(v, laidOut, "full", false).Said(conversation.PartMessage, answer)
	lines := strings.Split(strings.Trim(terminal.Wrap(laidOut.String(), v.Width), "\n"), "\n")
	if more := len(lines) - answerRows; more > 1 { // one row takes no more room than …
		lines = append([]string{"  …"}, lines[more:]...)
	}
	for _, line := range lines {
		fmt.Fprintln(e.Results(), strings.TrimRight(line, " "))
	}
}

// waiting says what a conversation that does not stand still does or waits for, "" for one that does.
func waiting(now time.Time, l repo.Summary, turn string) string {
	words := ""
	switch l.Status.State {
	case "running":
		return fmt.Sprintf("%s runs in another process: %q   %s", l.ShortID, turn, action.Attach(l.ShortID))
	case "waiting_for_input":
		words = "waits for an answer"
	case "interrupted":
		words = "interrupted"
	default:
		return ""
	}
	return fmt.Sprintf("%s %s ago: %q (turn %d)   %s", words, conversation.Ago(now.Sub(l.Active())), turn, l.Turns, action.Continue(l.ShortID))
}
