package turnloop

import (
	"context"
	crand "crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"strings"
	"time"

	"jp/conversation"
	"jp/provider"
	"jp/tool"
	"jp/turnloop/activity"
)

// Options are everything that a turn needs. Journal, ID, Stream, Provider,
// Model and Tools must be set.
type Options struct {
	Journal conversation.Journal
	ID      conversation.ID
	Head    conversation.Head // "": the conversation is made, behind Base
	Base    string            // commit that a new conversation starts from, "" for none
	Stream  *conversation.Stream

	Provider provider.Provider
	API      string // which provider's opaque state may be sent back
	Endpoint string // and whose: without anything secret; "" where it does not matter
	Account  string // and under which key: eight hex digits; "" where it does not matter
	Model    string // "provider/name"
	System   string // what the model is told before anything else
	Tools    *tool.Registry

	Workspace Workspace // nil: no snapshots
	// The order of locks: a call that changes files takes Hold and then its ToolLock, asks
	// Outlived with both held, and gives them back in reverse order. A call that only
	// reads takes no Hold. A delegate keeps its ToolLock while the tools of its own
	// conversation take Hold, one by one.
	Hold     func(context.Context) (release func(), err error)  // the right to change files; nil: nobody competes
	ToolLock func(seq int) (f *os.File, done func(), err error) // held while a tool lives; nil: none
	// Outlived says whether a tool of somebody else's, whose jp has ended, may still
	// change files; nil: none does.
	Outlived func() bool

	// Digest identifies the content of a file, "" if there is no file. It is false for
	// a folder. Nil: a permission holds whatever happens to untracked files.
	Digest func(path string) (digest string, ok bool)
	// Mentioned are the files that a call of a tool seems to name which does not say what
	// it is about. Nil: none.
	Mentioned func(arguments json.RawMessage) []string

	Prompter Prompter // nil: nobody can be asked
	// Restore replaces placeholders by the values of secrets, for the arguments of a
	// tool only. It fails with the name of an unknown value, and the tool is then not
	// run. Nil: there are no placeholders.
	Restore func(value json.RawMessage) (json.RawMessage, error)
	// Placeholders are those in a value. A tool that hands its calls to somebody else is
	// not run with any. Nil: there are none.
	Placeholders func(value json.RawMessage) []string
	// RedactOutput replaces secrets in the whole output of a tool, before jp cuts it. Nil:
	// there are none.
	RedactOutput func(text string) string
	// Redacts reports whether a placeholder would be recorded in the place of a text,
	// which stands under a name. Nil: never.
	Redacts func(name, text string) bool

	Policy   Policy // when nobody can be asked; default PolicyDefer
	Grant    Grant
	Observer Observer // nil: nobody is told
	Verbose  bool     // the observer is also told of details
	// Redact replaces secrets in a text that the observer shows and that is never recorded.
	// It is called from any goroutine. Nil: there are no secrets.
	Redact func(text string) string
	Hooks  Hooks // nil: there are none
	// Review asks a person whether the turn goes on after a tool changed files that
	// decide what git runs. An error, or the end of ctx, leaves the question open. Nil:
	// the turn ends without a question.
	Review  func(ctx context.Context, tool string, files []string) (goOn bool, err error)
	Unknown Resolver // nil: unknown outcomes are reported to the model

	Retry  provider.Retry
	Limits Limits
	JP     string // version, for the record
	// NewID names the conversation of a tool that works in one of its own. The
	// default makes an id that is most likely free.
	NewID func() (conversation.ID, error)

	Now    func() time.Time                           // default time.Now; called from several goroutines
	Random func() float64                             // default math/rand
	Wait   func(context.Context, time.Duration) error // default a timer
}

// A Resolver decides what becomes of a call that started earlier and has no
// response.
type Resolver func(ctx context.Context, call *conversation.ToolCall) (Resolution, error)

// A Resolution is what becomes of a call of unknown outcome.
type Resolution struct {
	Again  bool   // it is run again
	Text   string // else: what the model is told
	ByUser bool   // the text is the result, as the user knows it; else it is an error
}

// A Status is how a turn ended, or did not.
type Status string

// The ends of a turn.
const (
	Complete   Status = "complete"
	Stopped    Status = "stopped"
	Refused    Status = "refused"
	Length     Status = "length"
	Waiting    Status = "waiting"    // a question waits for an answer
	Incomplete Status = "incomplete" // it can be resumed
)

// An Outcome is how a turn ended.
type Outcome struct {
	Status  Status
	Turn    int
	Message string          // text of the answer
	Data    json.RawMessage // the structured answer, if one was asked for
	Empty   bool            // the model was asked again, or cut off, and said nothing
	Unfit   error           // why the answer does not satisfy the schema that was asked for
	Usage   conversation.Usage
	Failing *Failing              // for Stopped: the tool calls that ended the turn, nil where others did
	Waiting *conversation.Inquiry // for Waiting
	In      conversation.ID       // for Waiting: the delegate's conversation that the question is in, "" for the own
	By      conversation.Cause    // for Stopped
	// ContextFull says, for Length, that the answer filled the model's context, not its
	// own limit.
	ContextFull bool
}

// errWaiting ends the loop with a question that stays open.
var errWaiting = errors.New("a question waits for an answer")

// An Interrupt is why a context ended: the name of a signal.
type Interrupt struct{ Signal string }

// Error says which signal it was.
func (i *Interrupt) Error() string { return "interrupted by " + i.Signal }

// A Loop runs the turns of one conversation. It is for one goroutine.
type Loop struct {
	opts      Options
	stream    *conversation.Stream
	head      conversation.Head
	files     files
	again     map[int]bool   // calls of unknown outcome that are to run again
	details   map[int]string // what helps to answer a tool's question, by its seq
	failed    int            // tries of the present model call that left no event
	waiting   *conversation.Inquiry
	stateless bool // the provider took opaque state of its own not back
	steer     steering
	hooks     hookRunner
}

// New returns a loop over a conversation.
func New(opts Options) *Loop {
	opts.Limits = opts.Limits.orDefault()
	if opts.Policy == "" {
		opts.Policy = PolicyDefer
	}
	if opts.Redact == nil {
		opts.Redact = func(text string) string { return text }
	}
	var shown *activity.Set
	if opts.Observer == nil {
		opts.Observer = nopObserver{}
	} else {
		shown = activity.New(opts.Observer.Working, opts.Redact)
	}
	if opts.Now == nil {
		opts.Now = time.Now
	}
	if opts.Random == nil {
		opts.Random = rand.Float64
	}
	if opts.Wait == nil {
		opts.Wait = wait
	}
	if opts.NewID == nil {
		opts.NewID = func() (conversation.ID, error) { return conversation.NewID(opts.Now(), crand.Reader) }
	}
	opts.Stream.SetClock(opts.Now)
	l := &Loop{opts: opts, stream: opts.Stream, head: opts.Head, again: map[int]bool{}, details: map[int]string{}}
	l.steer.shown = shown
	l.hooks.hooks, l.hooks.model, l.hooks.observer = opts.Hooks, opts.Model, opts.Observer
	l.files = filesOf(opts.Stream.Events())
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

// Request is what a turn begins with.
type Request struct {
	Chat        conversation.ChatRequest
	Attachments []conversation.Payload
	Approved    conversation.Approval // tool runs that the user allows in advance
	Records     []*conversation.Event // jp's own events to go with it, such as a title
}

// Begin makes the beginning of a turn durable. Run goes on with it, here or in
// another process.
func (l *Loop) Begin(ctx context.Context, r Request) error {
	if err := l.hookStart(ctx, &r); err != nil {
		return err
	}
	l.steer.turn.Store(true)
	defer l.steer.turn.Store(false)
	return l.begin(ctx, r)
}

// Start begins a turn and runs it.
func (l *Loop) Start(ctx context.Context, r Request) (Outcome, error) {
	if err := l.hookStart(ctx, &r); err != nil {
		return Outcome{Status: Incomplete}, err
	}
	l.steer.turn.Store(true)
	defer l.steer.turn.Store(false)
	if err := l.begin(ctx, r); err != nil {
		return Outcome{Status: Incomplete}, err
	}
	return l.Run(ctx)
}

// Run goes on with the newest turn from its recorded events, until it ends or cannot go
// on. A turn that has not ended is Incomplete or Waiting, and can be run again.
func (l *Loop) Run(ctx context.Context) (Outcome, error) {
	defer l.hooks.wait()
	defer l.steer.shown.Quiet()
	l.steer.turn.Store(true)
	defer l.steer.turn.Store(false)
	for {
		action := Next(l.view())
		if action.Act == ActDone {
			return l.finish(ctx)
		}
		err := l.perform(ctx, action)
		var command *Command
		if errors.As(err, &command) && ctx.Err() == nil {
			err = l.obey(ctx, command)
		}
		if err != nil {
			return l.leave(ctx, err)
		}
	}
}

// detail tells the observer what only matters to users who want to know more.
func (l *Loop) detail(text string) {
	if l.opts.Verbose {
		l.opts.Observer.Noticed(text)
	}
}

func (l *Loop) view() View {
	tools := l.opts.Tools
	return View{
		Ledger: l.stream.Tail(), Again: l.again,
		Tools:  func(name string) *tool.Definition { return lookup(tools, name) },
		NoTool: func(name string) string { return noTool(tools, name) },
		Check:  l.check, Hooked: l.hooks.has(PointToolPre), Stale: l.stale,
	}
}

// lookup is the definition of the tool with a name, nil where there is none.
func lookup(tools *tool.Registry, name string) *tool.Definition {
	t, ok := tools.Lookup(name)
	if !ok {
		return nil
	}
	return t.Definition()
}

// noTool is the message to the model about an unknown tool: the nearest name, and all
// names.
func noTool(tools *tool.Registry, name string) string {
	const most = 64
	text := textNoSuchTool + string(word(name)) + "."
	names := toolNames(tools)
	if len(names) == 0 {
		return text + " No tool is available."
	}
	if nearest := tools.Nearest(name); nearest != "" {
		text += " The nearest name is " + nearest + "."
	}
	more := ""
	if len(names) > most {
		names, more = names[:most], fmt.Sprintf(" and %d more", len(names)-most)
	}
	return text + textAllTools + strings.Join(names, ", ") + more + "."
}

func (l *Loop) check(def *tool.Definition, arguments json.RawMessage) string {
	if _, err := tool.Check(def, arguments); err != nil {
		return textNotRun + err.Error()
	}
	if _, err := l.opts.real(def, arguments); err != nil {
		return textNotRun + err.Error() + "."
	}
	return ""
}

func (l *Loop) perform(ctx context.Context, a Action) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	switch a.Act {
	case ActModel:
		return l.callModel(ctx)
	case ActAsk:
		return l.askAgain(ctx, a.Inquiry)
	case ActPermit:
		return l.permit(ctx, a.Calls[0])
	case ActDeliver:
		return l.askDelivery(ctx, a.Calls[0])
	case ActRefuse:
		return l.refuse(ctx, a.Calls[0], a.Reason)
	case ActUnknown:
		return l.resolve(ctx, a.Calls[0])
	case ActHook:
		return l.hookTool(ctx, a.Calls[0])
	case ActRun:
		ctx, done := l.steer.begin(ctx, activityOf(l.opts.Tools, a.Calls[0], l.opts.Now()))
		defer done()
		return l.run(ctx, a.Calls)
	}
	return fmt.Errorf("unknown act %d", a.Act)
}

// commit makes events durable, behind the head that this loop wrote last.
func (l *Loop) commit(ctx context.Context) conversation.Commit {
	ctx = context.WithoutCancel(ctx) // what was decided is recorded
	return func(events []*conversation.Event) error {
		var head conversation.Head
		var err error
		if l.head == "" {
			head, err = l.opts.Journal.Create(ctx, l.opts.ID, l.opts.Base, events)
		} else {
			head, err = l.opts.Journal.Append(ctx, l.opts.ID, l.head, events)
		}
		if err != nil {
			return &JournalError{Seq: events[0].Seq, Err: err}
		}
		l.head = head
		return nil
	}
}

// build makes a handle's events part of the conversation and tells the observer.
func (l *Loop) build(ctx context.Context, t *conversation.TurnMut) error {
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
