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

// A HookEvent is the input of a hook. The point decides which fields are set.
type HookEvent struct {
	Point   Point
	Turn    int
	Model   string
	Request string // PointTurnStart: the user's request

	Call    *conversation.ToolCall // of both points of a tool
	Tool    *tool.Definition
	Subject string // the part of its arguments that says most

	Question *Question // PointWaiting

	Outcome *Outcome // PointTurnEnd
	Files   []string // PointTurnEnd: the files that the turn's tools changed
}

// A HookDecision is a hook's answer. The zero value has no objection.
type HookDecision struct {
	Denied    bool
	Reason    string          // of a denial
	Note      string          // for the model
	Arguments json.RawMessage // PointToolPre: in the place of the call's
	Said      string          // for the user
}

// hookGracePeriod is how long a hook may take when jp is about to end.
const hookGracePeriod = 2 * time.Second

var errHookGracePeriod = errors.New("jp was interrupted, and waited 2 s for it")

// hookRunner runs the hooks of one conversation, and passes on their messages to the user.
type hookRunner struct {
	hooks    Hooks // optional
	model    string
	observer Observer

	running sync.WaitGroup // hooks that run beside the turn
	asked   map[int]bool   // questions that such a hook was told of, by seq
	mu      sync.Mutex
	lines   []string // their messages to the user, until the observer gets them
}

// has reports whether there is a command for a point.
func (h *hookRunner) has(p Point) bool { return h.hooks != nil && h.hooks.Has(p) }

// run runs a command, and passes on its messages to the user.
func (h *hookRunner) run(ctx context.Context, m HookEvent) (HookDecision, error) {
	m.Model = h.model
	decision, err := h.hooks.Run(ctx, m)
	if ctx.Err() != nil {
		return HookDecision{}, context.Cause(ctx)
	}
	h.notify(m.Point, decision.Said)
	return decision, err
}

// notify gives the user each line of a hook's message.
func (h *hookRunner) notify(p Point, said string) {
	for _, text := range linesOf(p, said) {
		h.observer.Noticed(text)
	}
}

// waiting tells the hook of a question that people are to answer, once. The question
// does not wait for it.
func (h *hookRunner) waiting(ctx context.Context, question Question) {
	asked := question.Inquiry.Event
	if !h.has(PointWaiting) || h.asked[asked.Seq] {
		return
	}
	if h.asked == nil {
		h.asked = map[int]bool{}
	}
	h.asked[asked.Seq] = true
	m := HookEvent{Point: PointWaiting, Turn: asked.Turn, Model: h.model, Question: &question}
	h.running.Go(func() {
		decision, err := h.hooks.Run(ctx, m)
		if ctx.Err() != nil {
			return
		}
		h.mu.Lock()
		defer h.mu.Unlock()
		h.lines = append(h.lines, linesOf(PointWaiting, decision.Said)...)
		if err != nil {
			h.lines = append(h.lines, failed(PointWaiting, err))
		}
	})
}

// flush tells the observer the messages so far of the hooks beside the turn.
func (h *hookRunner) flush() {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, text := range h.lines {
		h.observer.Noticed(text)
	}
	h.lines = nil
}

// wait waits for the hooks beside the turn, and passes on their messages.
func (h *hookRunner) wait() {
	h.running.Wait()
	h.flush()
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

// noteOf is a note of a hook to the model. It marks each line of the hook, so that none can forge another
// message.
func noteOf(p Point, about, words string) string {
	text := strings.TrimSpace(strings.ToValidUTF8(words, "\uFFFD"))
	return line("[HOOK "+string(p)+"]", about) + "\n> " + strings.ReplaceAll(text, "\n", "\n> ")
}

// noteSubject is the line that git shows of a note in a hook's words.
func noteSubject(p Point, words string) string {
	first, _, _ := strings.Cut(strings.TrimSpace(words), "\n")
	return "note: the " + string(p) + " hook: " + first
}

func hookEvent(tools *tool.Registry, p Point, call *conversation.ToolCall) HookEvent {
	return HookEvent{
		Point: p, Turn: call.Event.Turn, Call: call, Tool: lookup(tools, call.Request.Name),
		Subject: subjectOf(tools, call.Request.Name, call.Arguments()),
	}
}
