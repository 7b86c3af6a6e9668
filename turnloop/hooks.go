package turnloop

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"jp/conversation"
	"jp/tool"
)

// A Point is a moment of a turn at which a command of the user is run.
type Point string

// The points.
const (
	PointTurnStart Point = "turn-start"        // before anything of the turn is recorded
	PointToolPre   Point = "tool-pre"          // before it is asked whether a call may run
	PointToolPost  Point = "tool-post"         // behind a durable result
	PointWaiting   Point = "waiting-for-input" // a question is put to people
	PointTurnEnd   Point = "turn-end"          // behind the durable end of a turn, or of its run
)

// Hooks run the user's commands at the points of a turn, one at a time; only the
// one for PointWaiting may run beside another.
type Hooks interface {
	// Has reports whether there is a command for a point.
	Has(p Point) bool
	// Run runs the command and waits for its decision. It fails if the command failed,
	// took too long, or wrote something else. The decision carries the text for the
	// user even then.
	Run(ctx context.Context, m HookEvent) (HookDecision, error)
}

// A HookEvent is what a hook gets to know. Which fields are set depends on the point.
type HookEvent struct {
	Point   Point
	Turn    int
	Model   string
	Request string // PointTurnStart: what the user asks

	Call    *conversation.ToolCall // of both points of a tool
	Tool    *tool.Definition
	Subject string // the part of its arguments that says most

	Question *Question // PointWaiting

	Outcome *Outcome // PointTurnEnd
	Files   []string // PointTurnEnd: what the turn's tools changed
}

// A HookDecision is what a hook says. The zero value is no objection.
type HookDecision struct {
	Denied    bool
	Reason    string          // of a denial
	Note      string          // for the model
	Arguments json.RawMessage // PointToolPre: in the place of the call's
	Said      string          // for the user
}

// hookGracePeriod is how long a hook may take where jp is about to end.
const hookGracePeriod = 2 * time.Second

var errHookGracePeriod = errors.New("jp was interrupted, and waited 2 s for it")

// hooked reports whether there is a command for a point.
func (l *Loop) hooked(p Point) bool { return l.opts.Hooks != nil && l.opts.Hooks.Has(p) }

// runHook runs a command, and passes on what it tells the user.
func (l *Loop) runHook(ctx context.Context, m HookEvent) (HookDecision, error) {
	m.Model = l.opts.Model
	ruling, err := l.opts.Hooks.Run(ctx, m)
	if ctx.Err() != nil {
		return HookDecision{}, context.Cause(ctx)
	}
	l.tell(m.Point, ruling.Said)
	return ruling, err
}

// tell gives the user each line of what a hook says.
func (l *Loop) tell(p Point, said string) {
	for _, text := range linesOf(p, said) {
		l.opts.Observer.Noticed(text)
	}
}

func linesOf(p Point, said string) (lines []string) {
	for text := range strings.Lines(said) {
		if text = strings.TrimSpace(text); text != "" {
			lines = append(lines, string(p)+" hook: "+text)
		}
	}
	return lines
}

func failed(p Point, err error) string { return fmt.Sprintf("the %s hook failed: %v", p, err) }

// hookStart asks whether a turn may begin. What the hook wants the model to know
// goes with the request.
func (l *Loop) hookStart(ctx context.Context, r *Request) error {
	if !l.hooked(PointTurnStart) {
		return nil
	}
	ruling, err := l.runHook(ctx, HookEvent{Point: PointTurnStart, Turn: l.stream.TurnNumber() + 1, Request: r.Chat.Content})
	switch {
	case ctx.Err() != nil:
		return err
	case err != nil:
		l.opts.Observer.Noticed(failed(PointTurnStart, err))
	case ruling.Denied:
		return &DeniedError{Reason: ruling.Reason}
	case ruling.Note != "":
		note := &conversation.Event{
			Body: &conversation.Note{Content: noteOf(PointTurnStart, "", ruling.Note)}, Subject: noteSubject(PointTurnStart, ruling.Note),
		}
		r.Records = append(r.Records[:len(r.Records):len(r.Records)], note)
	}
	return nil
}

// noteOf is a note of a hook to the model. Each line of the hook is marked, so that
// none can pass for another message.
func noteOf(p Point, about, words string) string {
	text := strings.TrimSpace(strings.ToValidUTF8(words, "\uFFFD"))
	return line("[HOOK "+string(p)+"]", about) + "\n> " + strings.ReplaceAll(text, "\n", "\n> ")
}

// noteSubject is the line that git shows of a note in a hook's words.
func noteSubject(p Point, words string) string {
	first, _, _ := strings.Cut(strings.TrimSpace(words), "\n")
	return "note: the " + string(p) + " hook: " + first
}

// afterTools tells the hook of results that have become durable. What it wants
// the model to know stands behind them. A result is never told twice: if jp ends
// before its hook, it has none.
func (l *Loop) afterTools(ctx context.Context, calls ...*conversation.ToolCall) error {
	for _, call := range calls {
		now := l.stream.Tail().ToolCall(call.Event.Seq)
		if ctx.Err() != nil || now.Open() || !l.hooked(PointToolPost) {
			continue
		}
		if err := l.hookResult(ctx, now); err != nil {
			return err
		}
	}
	return context.Cause(ctx)
}

func (l *Loop) hookResult(ctx context.Context, call *conversation.ToolCall) error {
	ruling, err := l.runHook(ctx, hookEvent(l.opts.Tools, PointToolPost, call))
	switch {
	case ctx.Err() != nil:
		return err
	case err != nil:
		l.opts.Observer.Noticed(failed(PointToolPost, err))
	case ruling.Note != "":
		about := call.Request.Name
		if subject := subjectOf(l.opts.Tools, about, call.Arguments()); subject != "" {
			about += " " + string(word(subject)) // encoded, so that it cannot forge the frame
		}
		note := &conversation.Note{Content: noteOf(PointToolPost, about, ruling.Note)}
		subject := conversation.WithSubject(noteSubject(PointToolPost, ruling.Note))
		return l.build(ctx, l.stream.CurrentTurn().AddRecord(note, subject))
	}
	return nil
}

func hookEvent(tools *tool.Registry, p Point, call *conversation.ToolCall) HookEvent {
	return HookEvent{
		Point: p, Turn: call.Event.Turn, Call: call, Tool: lookup(tools, call.Request.Name),
		Subject: subjectOf(tools, call.Request.Name, call.Arguments()),
	}
}

// hookEnd tells the hook how the turn ended. The hook has little time if jp is about to
// end.
func (l *Loop) hookEnd(ctx context.Context, o Outcome) {
	if !l.hooked(PointTurnEnd) {
		return
	}
	l.steer.turn.Store(false) // a hook cannot be replied to: Ctrl+C ends it
	if ctx.Err() != nil {
		var cancel func()
		ctx, cancel = context.WithTimeoutCause(context.WithoutCancel(ctx), hookGracePeriod, errHookGracePeriod)
		defer cancel()
	}
	_, err := l.runHook(ctx, HookEvent{Point: PointTurnEnd, Turn: o.Turn, Outcome: &o, Files: filesChanged(newestTurn(l.stream))})
	if err != nil {
		l.opts.Observer.Noticed(failed(PointTurnEnd, err))
	}
}

// notices are what hooks told the user that ran beside the turn.
type notices struct {
	running sync.WaitGroup
	asked   map[int]bool // questions that somebody was told of, by seq
	mu      sync.Mutex
	lines   []string
}

// hookWaiting tells the hook of a question that people are to answer, once. The
// question does not wait for it.
func (l *Loop) hookWaiting(ctx context.Context, q *conversation.Inquiry, route Route) {
	l.flushNotices()
	people := route == RouteAsk || route == RouteWait || route == RouteDefer
	if !people || !l.hooked(PointWaiting) || l.notices.asked[q.Event.Seq] {
		return
	}
	if l.notices.asked == nil {
		l.notices.asked = map[int]bool{}
	}
	l.notices.asked[q.Event.Seq] = true
	question := QuestionAbout(l.stream.Tail(), q)
	question.Subject = subjectOf(l.opts.Tools, q.Call.Request.Name, q.Call.Arguments())
	m := HookEvent{Point: PointWaiting, Turn: q.Event.Turn, Model: l.opts.Model, Question: &question}
	l.notices.running.Go(func() {
		if ruling, err := l.opts.Hooks.Run(ctx, m); ctx.Err() == nil {
			l.notices.add(ruling.Said, err)
		}
	})
}

func (n *notices) add(said string, err error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.lines = append(n.lines, linesOf(PointWaiting, said)...)
	if err != nil {
		n.lines = append(n.lines, failed(PointWaiting, err))
	}
}

// flushNotices tells the observer what has come of such hooks so far.
func (l *Loop) flushNotices() {
	l.notices.mu.Lock()
	defer l.notices.mu.Unlock()
	for _, text := range l.notices.lines {
		l.opts.Observer.Noticed(text)
	}
	l.notices.lines = nil
}

// waitHooks waits for such hooks, and passes on what they say.
func (l *Loop) waitHooks() {
	l.notices.running.Wait()
	l.flushNotices()
}
