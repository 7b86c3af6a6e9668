package ui

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"jp/agent"
	"jp/agent/action"
	"jp/agent/problem"
	"jp/agent/repo"
	"jp/conversation"
	"jp/internal/safetext"
	"jp/process/attach"
	"jp/turnloop"
)

// An attachShow is how jp attach shows a turn.
type attachShow interface {
	// replay shows what was durable before, from an event on.
	replay(events []*conversation.Event, from int)
	recorded(events []*conversation.Event)
	streamed(d attach.Delta)
	noticed(text string)
	// asked shows a question that another user has to answer.
	asked(i attach.Inquiry)
	// working shows what the turn does.
	working(a attach.Activity)
	// pause is called before the terminal is used for something else, and resume behind that.
	pause()
	resume()
	// left and ended are the last word.
	left(pid int) error
	ended(b attach.Closing) error
}

func (a *attachment) newShow(o AttachOptions) attachShow {
	e := a.env
	v := e.OnScreen(&repo.View{Repo: a.repo, ID: a.id})
	switch {
	case e.Format.Structured():
		return &attachLines{attachment: a, partial: o.Partial}
	case IsTerminal(e.Stdout):
		live := e.liveLine()
		if live != nil && a.person != nil {
			live.hint = "Ctrl+C menu"
		}
		e.live.Store(live)
		screen := &screenOutput{statusWriter: &statusWriter{env: e, palette: v.Palette, id: a.id, live: live}, shown: map[int]int{}}
		e.shown.Store(screen)
		return &attachScreen{attachPipe: attachPipe{attachment: a, view: v, transcript: NewTranscript(v, e.Results(), "full")}, screen: screen}
	}
	return &attachPipe{attachment: a, view: v, transcript: NewTranscript(v, e.Results(), "full")}
}

// attachPipe writes a transcript.
type attachPipe struct {
	*attachment
	view       *ScreenView
	transcript *transcript
}

func (p *attachPipe) replay(events []*conversation.Event, from int) {
	for _, e := range events {
		if e.Seq >= from && !e.Type().Internal() {
			p.transcript.event(e)
		}
	}
}

func (p *attachPipe) recorded(events []*conversation.Event) { p.replay(events, 0) }

func (p *attachPipe) streamed(attach.Delta) {}

func (p *attachPipe) noticed(text string) { p.env.Note("%s", safetext.Clean(text)) }

func (p *attachPipe) asked(i attach.Inquiry) {
	p.env.Note("%s waits for an answer: %s — %q", i.Conversation, safetext.Show(i.Tool), safetext.Clean(problem.OneLine(i.Text)))
	if i.Warning != "" {
		p.env.Note("    ! %s", safetext.Clean(problem.OneLine(i.Warning)))
	}
	p.env.Note("    %s   %s", repo.AnswerCommand(i), repo.AnswerWords(i))
}

func (p *attachPipe) working(attach.Activity) {}

func (p *attachPipe) pause() {}

func (p *attachPipe) resume() {}

func (p *attachPipe) left(pid int) error {
	p.env.Note("Detached; %s goes on (pid %d).   %s", p.id, pid, action.Attach(p.id.Short()))
	return nil
}

func (p *attachPipe) ended(b attach.Closing) error { return byeFailure(p.id, b) }

// byeFailure is the turn's exit code and its error, nil where it is complete.
func byeFailure(id conversation.ID, b attach.Closing) error {
	if b.Exit == 0 {
		return nil
	}
	f := problem.New(b.Exit, "incomplete_turn", "%s", b.Text).About(id)
	if b.Exit == problem.ExitInterrupted || b.Status == string(turnloop.Incomplete) || b.Status == string(turnloop.Waiting) {
		f.Hint(action.Continue(id.Short()), "goes on with the turn")
	}
	return f
}

// attachScreen shows the turn on a terminal as its own terminal would.
type attachScreen struct {
	attachPipe
	screen *screenOutput
}

func (s *attachScreen) replay(events []*conversation.Event, from int) {
	s.attachPipe.replay(events, from)
	if s.transcript.wrote {
		fmt.Fprintln(s.env.Results())
	}
}

func (s *attachScreen) recorded(events []*conversation.Event) {
	s.screen.Recorded(events)
	for _, e := range events {
		if b, ok := e.Body.(*conversation.TurnDone); ok && b != nil {
			words := safetext.Clean(e.Subject)
			if v, err := s.repo.Find().ViewBack(context.Background(), s.env.Host, string(s.id), func([]*conversation.Event) bool { return true }); err == nil {
				if used := agent.ContextUsed(context.Background(), s.repo, v.Events); used != "" {
					words += " · " + used
				}
			}
			s.screen.say("%s", s.screen.palette.Dim(words))
		}
	}
}

func (s *attachScreen) streamed(d attach.Delta) {
	if d.Part != conversation.PartMessage {
		return
	}
	s.screen.listen(d.Call)
	if _, begun := s.screen.shown[d.Seq]; !begun && d.At > 0 {
		s.screen.say("%s", s.screen.palette.Dim("…(the beginning of this is not kept; "+action.PrintSession.String()+" has all of it when it is done)"))
		s.screen.shown[d.Seq] = d.At
	}
	s.screen.Streamed(turnloop.Delta{Seq: d.Seq, Call: d.Call, Part: d.Part, At: d.At, Text: d.Text})
}

func (s *attachScreen) noticed(text string) { s.screen.Noticed(text) }

func (s *attachScreen) working(a attach.Activity) {
	child := a.Conversation
	if child == s.id {
		child = ""
	}
	s.screen.live.working(child, turnloop.Activity{
		Seq: a.Seq, Call: a.Call, Name: a.Name, Argument: a.Argument, Hook: a.Hook,
		Started: s.env.Now().Add(-time.Duration(a.SinceMS) * time.Millisecond), Waits: a.Waits, Part: a.Part, Writing: a.Writing,
		Tokens: a.Tokens, Context: a.Context, Window: a.Window, Tail: a.Tail, Progress: a.Progress, Over: a.Over,
	})
}

func (s *attachScreen) pause() {
	s.screen.closeMessage()
	s.screen.live.cover(true)
}

func (s *attachScreen) resume() { s.screen.live.cover(false) }

func (s *attachScreen) left(pid int) error {
	s.pause()
	return s.attachPipe.left(pid)
}

func (s *attachScreen) ended(b attach.Closing) error {
	s.pause()
	return s.attachPipe.ended(b)
}

// attachLines writes one JSON object per line.
type attachLines struct {
	*attachment
	partial bool
}

func (l *attachLines) line(value any) {
	if text, err := json.Marshal(value); err == nil {
		fmt.Fprintf(l.env.Results(), "%s\n", text)
	}
}

// message writes what the process said, as it said it.
func (l *attachLines) message(m attach.Message) {
	if text, err := attach.Encode(m); err == nil {
		fmt.Fprintf(l.env.Results(), "%s", text)
	}
}

func (l *attachLines) replay(events []*conversation.Event, from int) {
	hello := l.peer.Hello()
	l.line(map[string]any{"type": "attached", "conversation": l.id, "head": hello.Head, "seq": hello.Seq, "pid": hello.PID})
	for _, e := range events {
		if e.Seq >= from {
			l.recorded([]*conversation.Event{e})
		}
	}
}

func (l *attachLines) recorded(events []*conversation.Event) {
	for _, e := range events {
		if text, err := conversation.ViewJSON(e, l.id, false); err == nil {
			fmt.Fprintf(l.env.Results(), "%s\n", text)
		}
	}
}

func (l *attachLines) streamed(d attach.Delta) {
	if l.partial {
		l.message(&d)
	}
}

func (l *attachLines) noticed(text string) { l.env.Note("%s", safetext.Clean(text)) }

func (l *attachLines) asked(i attach.Inquiry) { l.message(&i) }

func (l *attachLines) working(attach.Activity) {}

func (l *attachLines) pause() {}

func (l *attachLines) resume() {}

func (l *attachLines) left(int) error {
	l.message(&attach.Closing{Reason: "detached"})
	return nil
}

func (l *attachLines) ended(b attach.Closing) error {
	l.message(&b)
	return byeFailure(l.id, b)
}
