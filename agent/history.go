package agent

import (
	"context"
	"slices"
	"strings"
	"time"

	"jp/agent/live"
	"jp/agent/repo"
	"jp/agent/resume"
	"jp/agent/snapshot"
	"jp/conversation"
	"jp/reconcile"
	"jp/tool"
	"jp/turnloop"
)

// A history has the events of a conversation.
type history struct {
	run    *run
	res    *resources
	target *target

	head      conversation.Head
	stream    *conversation.Stream
	events    []*conversation.Event        // all of them, with the incomplete turn
	tail      *conversation.IncompleteTurn // nil if every turn is complete
	stoppedAt time.Time                    // when the newest of them happened that was there at the start
	leftModel string                       // of an incomplete turn that is left out, or ""
}

// load reads the conversation, and fails if it may not be continued. A new or a refused conversation is
// empty.
func (t *target) load(ctx context.Context) (*history, error) {
	l := &history{run: t.run, res: t.res, target: t, stream: conversation.NewStream(t.run.env.Now)}
	if t.fresh {
		if len(t.run.opts.Turn.Profiles) == 0 {
			return l, nil
		}
		return l, t.run.repo.Configure(t.run.env, nil, t.run.opts.Turn.Profiles...)
	}
	err := l.read(ctx)
	return l, err
}

func (l *history) read(ctx context.Context) error {
	head, err := l.run.repo.Store.Head(ctx, l.target.id)
	if err != nil {
		return err
	}
	events, err := l.run.opts.Turn.History.load(ctx, l.run.repo.Store, head)
	if err != nil {
		return repo.AboutConversation(err, l.target.id)
	}
	l.head = head
	if !l.run.opts.unrecorded() && conversation.Local(events) && slices.ContainsFunc(events, func(e *conversation.Event) bool { return len(e.Payloads) > 0 }) {
		if err := l.run.repo.Store.Keep(ctx, l.target.id, head); err != nil {
			return err
		}
	}
	stream, tail := conversation.SplitTail(events)
	l.events = events
	if tail != nil {
		l.stoppedAt = reconcile.Read(events, tail, "").At
	}
	if events[len(events)-1].Opaque() {
		return repo.Newer(l.target.id, events)
	}
	if err := l.run.repo.Standings().MayAct(ctx, l.target.id, head, events, "read, not continued"); err != nil {
		return err
	}
	if tail != nil && !tail.Empty() {
		l.tail = tail
	}
	l.stream = conversation.JoinTail(stream, tail)
	if l.run.opts.unrecorded() && l.tail != nil {
		l.run.env.Note("Turn %d is incomplete (%s); it is left out.", l.tail.Number, resume.TailWords(l.run.repo, l.target.id, resume.StatusOf(ctx, l.run.repo, l.target.id, l.tail)))
		l.leftModel = l.stream.Model()
		l.events = l.events[:len(l.events)-len(l.tail.Events)]
		l.stream, _ = conversation.SplitTail(l.events)
		if l.tail, l.head = nil, ""; len(l.events) > 0 {
			l.head = conversation.Head(l.events[len(l.events)-1].Commit)
		}
	}
	l.stream.SetClock(l.run.env.Now)
	err = l.run.repo.Configure(l.run.env, l.events, l.run.opts.Turn.Profiles...)
	if err == nil && l.run.delegation == nil { // a child shows its output within its parent's
		l.run.front.Configured(l.run.repo.Config.Style)
	}
	return err
}

// record is the record of the incomplete turn. Its age counts from the newest event at jp's start.
func (l *history) record() reconcile.Record {
	r := reconcile.Read(l.events, l.tail, live.StreamedAnswer(l.run.repo.StateDir(), l.target.id, l.events))
	r.At, r.LeftBehind = l.stoppedAt, snapshot.LeftBehind(l.events).Paths()
	return r
}

// recorder is a loop that records decisions and runs no tools. It looks at the files f unless that is nil.
func (l *history) recorder(f *snapshot.Files) *turnloop.Loop {
	opts := turnloop.Options{Conversation: turnloop.ConversationOptions{Journal: l.run.repo.Store, ID: l.target.id, Head: l.head, Stream: l.stream}, Tools: turnloop.ToolOptions{Registry: new(tool.Registry)}, Clock: turnloop.Clock{Now: l.run.env.Now}}
	if f != nil {
		opts.Files.Workspace = f
	}
	return turnloop.New(opts)
}

// system is the system prompt: jp's own words or the user's in their place, and the parts that they leave
// out.
func (l *history) system(words string) string {
	switch {
	case l.run.opts.NoPersist:
		return words + "\n\n" + strings.TrimSpace(transientPrompt)
	case l.worksFor() != "":
		return words + "\n\n" + strings.TrimSpace(delegatePrompt)
	}
	return words
}

// transientPrompt is an addition for the model of an unrecorded turn.
const transientPrompt = `
This question is asked in passing: only tools that read are switched on, and nothing of this turn is recorded. Answer it, and change nothing.`

// delegatePrompt is an addition for the model of a delegate.
const delegatePrompt = `
You work on a task that another model gave you. It sees only your last answer: put into it all that was asked for. Keep the state of your work with update_state, so that it is known if you are interrupted.`

// worksFor is the conversation that this one works for, "" if that is the user.
func (l *history) worksFor() conversation.ID { return resume.WorksFor(l.stream.Events()) }
