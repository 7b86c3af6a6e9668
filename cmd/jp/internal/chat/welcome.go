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
	"jp/internal/version"
)

// hints stand at the end of the bottom line.
const hints = "/ commands · ? keys"

// A welcome is the first text that the person sees: about jp, and about a conversation that they come
// to.
type welcome struct {
	env     *ui.Env
	request agent.Request
	mode    string
	plain   bool // there is no bottom line
}

// welcome is for the requests that the person makes now.
func (c *chat) welcome() welcome {
	return welcome{c.env, c.settings.next(false), c.settings.modeName(), !ui.Redraws(c.env.Style, c.env.Get("TERM"))}
}

// show names the version of jp, its place, and the state of the conversation.
func (w welcome) show(r *repo.Repo, o agent.Overview) {
	p := w.env.Palette(w.env.Stdout)
	recorded := ""
	if o.Listing.Model != nil {
		recorded = *o.Listing.Model
	}
	name := []string{p.Bold("jp " + version.Get().Version)}
	if model := agent.NextModel(r, w.request, recorded); model != "" {
		name = append(name, p.Dim(safetext.OneLine(model)))
	}
	place := []string{problem.OneLine(ui.ShortDir(w.env, r.Place()))}
	if branch := branchOf(r.At.GitDir); branch != "" {
		place = append(place, safetext.OneLine(branch))
	}
	w.say(strings.Join(name, p.Dim(" · ")))
	w.say(p.Dim(strings.Join(append(place, modeWord(w.mode)), " · ")))
	w.conversation(r, o)
	if w.plain {
		w.say(p.Dim("/help commands and keys"))
	}
	fmt.Fprintln(w.env.Results())
}

// conversation shows the state of a conversation, its last turn as it looked, and the questions that
// wait for the person.
func (w welcome) conversation(r *repo.Repo, o agent.Overview) {
	p := w.env.Palette(w.env.Stdout)
	var below []string
	follows := inBackground(r, o.ID)
	if line := waiting(w.env.Now(), o.Listing, o.Turn); line != "" && !follows {
		below = append(below, p.Yellow(line))
	}
	for _, s := range o.Others {
		line := s.Words + "   " + s.Action.String()
		if o.ID != "" {
			line = "also " + line
		}
		below = append(below, p.Dim(line))
	}
	taken := 11 // rows of jp's name and place, the title, the person's line, and between them
	for _, line := range below {
		taken += terminal.RowsOf(line, w.width())
	}
	if o.ID != "" {
		words := fmt.Sprintf("%s · %s · %s ago", o.Listing.ShortID, conversation.Count(o.Listing.Turns, "turn"), conversation.Ago(w.env.Now().Sub(o.Listing.Active())))
		w.say(safetext.Fit(p.Bold(problem.OneLine(repo.Title(o.Listing))), max(w.width()-safetext.Columns(words)-3, 20)) + p.Dim(" · "+words))
		if rows := w.env.OnScreen(&repo.View{Repo: r, ID: o.ID, Events: o.Last}).LastTurn(terminal.Rows(w.env.Stdout) - taken); len(rows) > 0 && !follows {
			fmt.Fprintf(w.env.Results(), "\n%s\n", strings.Join(rows, "\n"))
		}
	}
	if len(below) > 0 {
		fmt.Fprintln(w.env.Results())
	}
	for _, line := range below {
		w.say(line)
	}
}

func (w welcome) width() int { return w.env.Columns(w.env.Stdout) }

// say prints a line that breaks between words.
func (w welcome) say(line string) { fmt.Fprintln(w.env.Results(), terminal.Wrap(line, w.width())) }

// modeWord is a plain word for a mode.
func modeWord(mode string) string {
	if mode == none {
		return "asks"
	}
	return "mode " + mode
}

// waiting describes a conversation that runs, waits or was interrupted, "" for any other.
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
