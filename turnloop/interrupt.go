package turnloop

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	"jp/conversation"
	"jp/tool"
)

// A UserCommand is a user's command to a running turn.
type UserCommand struct {
	Kind CommandKind
	Text string // for CommandReply: the user's message
}

// A CommandKind is one of the things that the user can want.
type CommandKind int

// The kinds.
const (
	CommandStop       CommandKind = iota // end the turn as it stands
	CommandReply                         // say something, and go on with that
	CommandCancelTool                    // end the tools that run; the turn goes on
)

// Error lets a command be the cause of a context's end.
func (c *UserCommand) Error() string {
	return map[CommandKind]string{
		CommandStop: "stopped by the user", CommandReply: "the user replied", CommandCancelTool: "cancelled by the user",
	}[c.Kind]
}

// interrupt lets another goroutine reach the running step of the loop.
type interrupt struct {
	turn   atomic.Bool // a turn is under way
	mu     sync.Mutex
	now    *Activity
	all    context.CancelCauseFunc // ends the model call, or the tools and the wait for them
	tools  map[int]context.CancelCauseFunc
	nextID int
	shown  *activities // optional
}

// begin makes a context that Interrupt can end, until done is called. The activity says
// since when.
func (s *interrupt) begin(ctx context.Context, a Activity) (_ context.Context, done func()) {
	ctx, cancel := context.WithCancelCause(ctx)
	shown := s.shown.Begin(a)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.now, s.all = &a, cancel
	return ctx, func() {
		shown.End()
		s.mu.Lock()
		defer s.mu.Unlock()
		s.now, s.all = nil, nil
		cancel(nil)
	}
}

// activityOf is the run of a call, which began now.
func activityOf(tools *tool.Registry, call *conversation.ToolCall, now time.Time) Activity {
	return Activity{
		Seq: call.Event.Seq, Call: call.Request.Call, Name: call.Request.Name, Started: now,
		Argument: subjectOf(tools, call.Request.Name, call.Arguments()),
	}
}

// since is when the present activity began.
func (s *interrupt) since() time.Time {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.now == nil {
		return time.Time{}
	}
	return s.now.Started
}

// waits records whether the present step of the loop waits for others.
func (s *interrupt) waits(waits bool, now time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.now != nil {
		changed := *s.now
		changed.Waits, changed.Started = waits, now
		s.now = &changed
		s.shown.Of(changed.Key()).Wait(waits, now)
	}
}

// beginTool makes a context for one tool run that Interrupt can end by itself.
func (s *interrupt) beginTool(ctx context.Context) (_ context.Context, done func()) {
	ctx, cancel := context.WithCancelCause(ctx)
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.tools == nil {
		s.tools = map[int]context.CancelCauseFunc{}
	}
	id := s.nextID
	s.nextID++
	s.tools[id] = cancel
	return ctx, func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		delete(s.tools, id)
		cancel(nil)
	}
}
