package turnloop

import (
	"context"
	crand "crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"time"

	"jp/conversation"
	"jp/provider"
	"jp/tool"
)

// errWaiting ends the loop with a question that stays open.
var errWaiting = errors.New("a question waits for an answer")

// An Interrupt is the reason why a context ended: the name of a signal, or its equivalent.
type Interrupt struct {
	Signal string
	Cause  string // the reason if there was no signal
}

// Error names the reason.
func (i *Interrupt) Error() string {
	if i.Cause != "" {
		return "interrupted: " + i.Cause
	}
	return "interrupted by " + i.Signal
}

// A Loop runs the turns of one conversation. It is for one goroutine.
type Loop struct {
	opts      Options
	stream    *conversation.Stream
	head      conversation.Head
	files     files
	approvals approvals
	tools     toolRunner
	again     map[int]bool   // calls of unknown outcome that are to run again
	details   map[int]string // the text that helps to answer a tool's question, by its seq
	losses    losses
	failed    int // tries of the present model call that left no event
	waiting   *conversation.Inquiry
	model     modelClient
	interrupt interrupt
	hooks     hookRunner

	substitute substitute
}

// New returns a loop over a conversation.
func New(opts Options) *Loop {
	opts.Limits = opts.Limits.orDefault()
	if opts.User.Policy == "" {
		opts.User.Policy = PolicyDefer
	}
	if opts.Secrets.Redact == nil {
		opts.Secrets.Redact = func(text string) string { return text }
	}
	var shown *activities
	if opts.Observer == nil {
		opts.Observer = nopObserver{}
	} else {
		shown = newActivities(opts.Observer.Working, opts.Secrets.Redact)
	}
	if opts.Clock.Now == nil {
		opts.Clock.Now = time.Now
	}
	if opts.Clock.Random == nil {
		opts.Clock.Random = rand.Float64
	}
	if opts.Clock.Wait == nil {
		opts.Clock.Wait = wait
	}
	if opts.Model.Known == nil {
		opts.Model.Known = new(provider.CompleteTurns)
	}
	if opts.Conversation.NewID == nil {
		opts.Conversation.NewID = func() (conversation.ID, error) { return conversation.NewID(opts.Clock.Now(), crand.Reader) }
	}
	opts.Conversation.Stream.SetClock(opts.Clock.Now)
	l := &Loop{opts: opts, stream: opts.Conversation.Stream, head: opts.Conversation.Head, again: map[int]bool{}, details: map[int]string{}}
	l.losses = losses{opts: &l.opts, warned: map[int]bool{}}
	l.interrupt.shown = shown
	l.hooks.hooks, l.hooks.model, l.hooks.observer = opts.Hooks, opts.Model.Name, opts.Observer
	l.model.opts, l.model.stream = &l.opts, l.stream
	l.approvals = approvals{opts: &l.opts, stream: l.stream, refused: map[int]string{}}
	l.tools = toolRunner{&l.opts, l.stream, &l.approvals, &l.interrupt}
	l.files.workspace = opts.Files.Workspace
	l.files.follow(opts.Conversation.Stream.Events())
	return l
}

func wait(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// Head is the conversation's newest event.
func (l *Loop) Head() conversation.Head { return l.head }

// A Request begins a turn.
type Request struct {
	Chat        conversation.ChatRequest
	Attachments []conversation.Payload
	Approved    conversation.Approval // tool runs that the user allows in advance
	Records     []*conversation.Event // jp's own events to go with it, such as a title
}

// Begin makes the beginning of a turn durable. Run goes on with it, here or in
// another process.
func (l *Loop) Begin(ctx context.Context, r Request) error {
	defer l.interrupt.turn.Store(false)
	return l.begin(ctx, r)
}

// Start begins a turn and runs it.
func (l *Loop) Start(ctx context.Context, r Request) (Outcome, error) {
	defer l.interrupt.turn.Store(false)
	if err := l.begin(ctx, r); err != nil {
		return Outcome{Status: Incomplete}, err
	}
	return l.Run(ctx)
}

// Run resumes the newest turn from its recorded events, until it ends or must stop. A turn that has not ended
// is Incomplete or Waiting, and can be run again.
func (l *Loop) Run(ctx context.Context) (Outcome, error) {
	defer l.hooks.wait()
	defer l.interrupt.shown.Quiet()
	l.interrupt.turn.Store(true)
	defer l.interrupt.turn.Store(false)
	for {
		action := Next(l.view())
		var err error
		if action.Act == ActDone {
			more := l.opts.Input.behind(l.stream)
			if len(more) == 0 {
				return l.finish(ctx)
			}
			err = l.build(ctx, saying(l.stream, more))
		} else {
			err = l.perform(ctx, action)
		}
		var command *UserCommand
		if errors.As(err, &command) && ctx.Err() == nil {
			err = l.handleInterrupt(ctx, command)
		}
		if err != nil {
			return l.leave(ctx, err)
		}
	}
}

// detail gives the observer a text for verbose output only.
func (l *Loop) detail(text string) {
	if l.opts.Verbose {
		l.opts.Observer.Noticed(text)
	}
}

func (l *Loop) view() View {
	tools := l.opts.Tools.Registry
	return View{
		Ledger: l.stream.Tail(), Again: l.again,
		Tools:  func(name string) *tool.Definition { return lookup(tools, name) },
		NoTool: func(name string) string { return noTool(tools, name) },
		Hooked: l.hooks.has(PointToolPre), Restriction: l.opts.restriction(),
		Stale: func(call *conversation.ToolCall) bool {
			return l.approvals.whyStale(call) != "" || l.approvals.lifted(call)
		},
		Reader: l.approvals.reader, Behind: l.opts.behind,
		Check: func(def *tool.Definition, arguments json.RawMessage) string {
			if _, err := tool.Check(def, arguments); err != nil {
				return textNotRun + err.Error()
			}
			if _, err := l.opts.real(def, arguments); err != nil {
				return textNotRun + err.Error() + "."
			}
			return ""
		},
	}
}

func (l *Loop) perform(ctx context.Context, a Action) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	switch a.Act {
	case ActModel:
		if l.opts.Input.Queued != nil {
			if texts := l.opts.Input.Queued(); len(texts) > 0 {
				return l.build(ctx, saying(l.stream, texts))
			}
		}
		return l.callModel(ctx)
	case ActAsk:
		return l.askAgain(ctx, a.Inquiry)
	case ActPermit:
		return l.permit(ctx, a.Calls[0])
	case ActDeliver:
		call := a.Calls[0]
		t := l.stream.CurrentTurn()
		seq := t.Next()
		t.AddInquiryRequest(deliveryQuestion(call, lookup(l.opts.Tools.Registry, call.Request.Name)))
		if err := l.build(ctx, t); err != nil {
			return err
		}
		return l.put(ctx, l.stream.Tail().InquiryAt(seq))
	case ActRefuse:
		return l.refuse(ctx, a.Calls[0], a.Reason)
	case ActUnknown:
		return l.resolve(ctx, a.Calls[0])
	case ActHook:
		return l.hookTool(ctx, a.Calls[0])
	case ActRun:
		ctx, done := l.interrupt.begin(ctx, activityOf(l.opts.Tools.Registry, a.Calls[0], l.opts.Clock.Now()))
		defer done()
		return l.run(ctx, a.Calls)
	}
	return fmt.Errorf("unknown act %d", a.Act)
}

// behind are the messages that go on with a turn whose newest event is an answer.
func (o InputOptions) behind(stream *conversation.Stream) []string {
	events := newestTurn(stream)
	if o.More == nil || outcomeOf(events).Status != Complete || stream.Tail().Discarded || summedUp(events) {
		return nil
	}
	return o.More()
}

// saying adds messages of the user to the turn.
func saying(stream *conversation.Stream, texts []string) *conversation.TurnBuilder {
	t := stream.CurrentTurn()
	for _, text := range texts {
		t.AddChatRequest(conversation.ChatRequest{Content: text, Interrupt: true})
	}
	return t
}

// commit makes events durable, behind the head that this loop wrote last.
func (l *Loop) commit(ctx context.Context) conversation.Commit {
	ctx = context.WithoutCancel(ctx) // the decision is recorded
	return func(events []*conversation.Event) error {
		var head conversation.Head
		var err error
		if l.head == "" {
			head, err = l.opts.Conversation.Journal.Create(ctx, l.opts.Conversation.ID, l.opts.Conversation.Base, events)
		} else {
			head, err = l.opts.Conversation.Journal.Append(ctx, l.opts.Conversation.ID, l.head, events)
		}
		if err != nil {
			return &JournalError{Seq: events[0].Seq, Err: err}
		}
		l.head = head
		return nil
	}
}

// build makes a handle's events part of the conversation and tells the observer.
func (l *Loop) build(ctx context.Context, t *conversation.TurnBuilder) error {
	from := l.stream.Len()
	if err := t.Build(l.commit(ctx)); err != nil {
		return err
	}
	added := l.stream.Events()[from:]
	l.files.follow(added)
	if len(added) > 0 {
		l.opts.Observer.Recorded(added)
	}
	return nil
}

// Running reports whether a turn is under way. It is briefly false between two steps that can be steered.
func (l *Loop) Running() bool { return l.interrupt.turn.Load() }

// Doing is the present step of the loop that can be steered, false if there is none.
func (l *Loop) Doing() (Activity, bool) {
	l.interrupt.mu.Lock()
	defer l.interrupt.mu.Unlock()
	if l.interrupt.now == nil {
		return Activity{}, false
	}
	return *l.interrupt.now, true
}

// Interrupt passes a user's command to the running loop, from any goroutine. It reports whether there was
// something to steer.
func (l *Loop) Interrupt(c UserCommand) bool {
	l.interrupt.mu.Lock()
	defer l.interrupt.mu.Unlock()
	if c.Kind == CommandCancelTool {
		for _, cancel := range l.interrupt.tools {
			cancel(&c)
		}
		return len(l.interrupt.tools) > 0
	}
	if l.interrupt.all == nil {
		return false
	}
	l.interrupt.all(&c)
	return true
}
