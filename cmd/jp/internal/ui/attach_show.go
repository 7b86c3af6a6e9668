package ui

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"jp/agent"
	"jp/agent/problem"
	"jp/agent/repo"
	"jp/conversation"
	"jp/internal/action"
	"jp/internal/safetext"
	"jp/process/attach"
	"jp/turnloop"
)

// newPrinter prints the messages: on a terminal as the turn's own terminal would, else as its record,
// nil for programs.
func (a *attachment) newPrinter() *Turn {
	e := a.env
	switch {
	case e.Format.Structured():
		return nil
	case !IsTerminal(e.Stdout):
		return a.newRecord()
	}
	t := e.newTurn(e.liveLine(), "")
	t.run, t.follows = agent.RunInfo{ID: a.id, Recorded: true}, true
	if t.live != nil && a.person != nil {
		if t.live.hint = "Ctrl+C menu"; a.options.Chat != nil {
			t.live.hint = "Esc menu"
		}
		a.person.front.live = t.live
	}
	aside := t.aside
	e.beside.Store(&aside)
	return t
}

// newRecord prints recorded events, in a chat as they looked while they were recorded.
func (a *attachment) newRecord() *Turn {
	style := "full"
	if a.options.Chat != nil {
		style = asItRan
	}
	return NewTurn(a.env.OnScreen(&repo.View{Repo: a.repo, ID: a.id}), a.env.Results(), style, false)
}

// replay shows the recorded events from a seq on.
func (a *attachment) replay(events []*conversation.Event, from int) {
	for len(events) > 0 && events[0].Seq < from {
		events = events[1:]
	}
	hello, running := a.peer.Hello(), a.printer
	switch {
	case running == nil:
		a.line(map[string]any{"type": "attached", "conversation": a.id, "head": hello.Head, "seq": hello.Seq, "pid": hello.PID})
	case running.view == nil:
		a.printer = a.newRecord()
		defer func() {
			if a.printer.record.wrote {
				fmt.Fprintln(a.env.Results())
			}
			a.printer = running
		}()
	}
	a.recorded(events)
	if running != nil {
		for _, e := range events {
			running.record.follow(e) // the results of their calls are to come
		}
	}
}

func (a *attachment) recorded(events []*conversation.Event) {
	for _, e := range events {
		switch {
		case a.printer == nil:
			if text, err := conversation.ViewJSON(e, a.id, false); err == nil {
				fmt.Fprintf(a.env.Results(), "%s\n", text)
			}
		case !e.Type().Internal():
			a.printer.Recorded([]*conversation.Event{e})
		default:
			a.printer.record.follow(e)
		}
		if e.Type() != conversation.TypeTurnDone || a.printer == nil || a.printer.view != nil {
			continue
		}
		words := safetext.Clean(e.Subject)
		if v, err := a.repo.Find().ViewBack(context.Background(), a.env.Host, string(a.id), func([]*conversation.Event) bool { return true }); err == nil {
			if used := agent.ContextUsed(context.Background(), a.repo, v.Events); used != "" {
				words += " · " + used
			}
		}
		a.printer.say(a.printer.palette.Dim(words))
	}
}

// streamed shows text that is not durable yet.
func (a *attachment) streamed(d *attach.Delta) {
	switch {
	case a.printer != nil:
		a.printer.Streamed(turnloop.Delta{Seq: d.Seq, Call: d.Call, Part: d.Part, At: d.At, Text: d.Text})
	case a.options.Partial:
		a.passOn(d)
	}
}

func (a *attachment) noticed(text string) {
	if a.printer != nil {
		a.printer.Noticed(text)
		return
	}
	a.env.Note("%s", safetext.Clean(text))
}

// waits shows a question that another user has to answer.
func (a *attachment) waits(i *attach.Inquiry) {
	if a.printer == nil {
		a.passOn(i)
		return
	}
	a.env.Note("%s waits for an answer: %s", i.Conversation, repo.QuestionWords(*i))
	if i.Warning != "" {
		a.env.Note("    ! %s", safetext.Clean(problem.OneLine(i.Warning)))
	}
	a.env.Note("    %s   %s", repo.AnswerCommand(*i), repo.AnswerWords(*i))
}

// working shows the activity of the turn or of a delegate.
func (a *attachment) working(w *attach.Activity) {
	if a.printer == nil {
		return
	}
	child := w.Conversation
	if child == a.id {
		child = ""
	}
	a.printer.live.working(child, turnloop.Activity{
		Seq: w.Seq, Call: w.Call, Name: w.Name, Argument: w.Argument, Hook: w.Hook,
		Started: a.env.Now().Add(-time.Duration(w.SinceMS) * time.Millisecond), Waits: w.Waits, Part: w.Part, Writing: w.Writing,
		Tokens: w.Tokens, Context: w.Context, Window: w.Window, Tail: w.Tail, Progress: w.Progress, Over: w.Over,
	})
}

// left reports that the user has left a turn that goes on.
func (a *attachment) left(pid int) error {
	a.printer.pause()
	if a.printer == nil {
		a.passOn(&attach.Closing{Reason: "detached"})
		return nil
	}
	a.env.Note("Detached; %s goes on (pid %d).   %s", a.id, pid, action.Attach(a.id.Short()))
	return nil
}

// over is the turn's exit code and its error, nil if the turn is complete.
func (a *attachment) over(b attach.Closing) error {
	a.printer.pause()
	if a.printer == nil {
		a.passOn(&b)
	}
	if b.Exit == 0 {
		return nil
	}
	f := problem.New(b.Exit, "incomplete_turn", "%s", b.Text).About(a.id)
	if b.Exit == problem.ExitInterrupted || b.Status == string(turnloop.Incomplete) || b.Status == string(turnloop.Waiting) {
		f.Hint(action.Continue(a.id.Short()), "goes on with the turn")
	}
	return f
}

func (a *attachment) line(value any) {
	if text, err := json.Marshal(value); err == nil {
		fmt.Fprintf(a.env.Results(), "%s\n", text)
	}
}

// passOn writes the output of the process unchanged.
func (a *attachment) passOn(m attach.Message) {
	if text, err := attach.Encode(m); err == nil {
		fmt.Fprintf(a.env.Results(), "%s", text)
	}
}
