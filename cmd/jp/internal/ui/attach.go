package ui

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"jp/agent/problem"
	"jp/agent/repo"
	"jp/cmd/jp/internal/terminal"
	"jp/conversation"
	"jp/internal/action"
	"jp/process/attach"
	"jp/turnloop"
)

// An attachment is one run of jp attach with a process. One goroutine shows its messages. Another one
// asks the person, and messages wait meanwhile.
type attachment struct {
	env     *Env
	repo    *repo.Repo
	id      conversation.ID
	peer    *attach.Client
	ends    func(context.Context) error // waits for the end of the process
	person  *client                     // nil: the process is only followed
	printer *Turn                       // nil for programs
	options AttachOptions
	inbox   *inbox
	reader  sync.WaitGroup

	turn   []*conversation.Event // of the current turn, at least
	asking *askedHere            // nil while nothing is asked here
	later  []nextMessages        // messages that wait for the end of it
	asked  *attach.Inquiry       // the newest question, while it waits
	menu   bool                  // the user wants the menu
}

// Reasons to stop asking the person: they wish to leave, or the process has ended its messages.
var (
	errLeave = errors.New("left")
	errOver  = errors.New("the process has ended")
)

func (a *attachment) close() {
	if a.printer != nil {
		a.printer.live.close()
	}
	a.peer.Close()
	a.reader.Wait()
	a.person.Close()
}

// run shows and asks until the user leaves or the process has ended.
func (a *attachment) run(ctx context.Context, leave, menu <-chan struct{}) error {
	for {
		var answered chan struct{}
		if a.asking != nil {
			answered = a.asking.done
		}
		var err error
		select {
		case <-a.inbox.news:
			for _, u := range a.inbox.take() {
				if err = a.take(ctx, u); err != nil {
					break
				}
			}
		case <-answered:
			err = a.answered(ctx)
		case <-leave:
			err = errLeave
		case <-menu:
			a.menu = true
			err = a.say(&attach.Interrupt{})
		case <-ctx.Done():
			err = context.Cause(ctx)
		}
		if err != nil {
			if a.asking != nil { // it gets no answer
				a.asking.end(err)
				<-a.asking.done
				a.asking = nil
			}
			return a.ended(ctx, err)
		}
	}
}

// keys reports the user's keys outside of questions: Ctrl+Z and Ctrl+\ leave, Ctrl+C wants the menu.
func (a *attachment) keys() (leave, menu <-chan struct{}) {
	left, wanted := make(chan struct{}, 1), make(chan struct{}, 1)
	leaving := func() {
		select {
		case left <- struct{}{}:
		default: // it leaves already
		}
	}
	a.env.onLeave.Store(&leaving)
	if a.person == nil {
		return left, nil
	}
	interrupt := func(context.Context, bool) bool {
		select {
		case wanted <- struct{}{}:
			return true
		default:
			return false // the menu did not open in time: Ctrl+C again ends jp attach
		}
	}
	a.env.onInterrupt.Store(&interrupt)
	return left, wanted
}

// take shows one thing, or keeps it for later while something is asked here.
func (a *attachment) take(ctx context.Context, u nextMessages) error {
	if b, ok := u.m.(*attach.Answered); ok {
		if q := a.asking; q != nil && q.inquiry.Seq == b.Seq && q.inquiry.Conversation == b.Conversation {
			q.end(turnloop.ErrElsewhere)
		}
		a.asked = nil
	}
	if a.asking != nil {
		if _, bye := u.m.(*attach.Closing); bye || u.err != nil {
			a.asking.end(errOver)
		}
		a.later = append(a.later, u)
		return nil
	}
	if u.err != nil {
		return u.err
	}
	if len(u.events) > 0 {
		a.follow(u.events)
		a.recorded(u.events)
		return nil
	}
	return a.receive(ctx, u.m)
}

// follow keeps the current turn's events.
func (a *attachment) follow(events []*conversation.Event) {
	for _, e := range events {
		if e.Type() == conversation.TypeTurnStart {
			a.turn = nil
		}
		a.turn = append(a.turn, e)
	}
}

func (a *attachment) receive(ctx context.Context, m attach.Message) error {
	switch m := m.(type) {
	case *attach.Delta:
		a.streamed(m)
	case *attach.Notice:
		a.noticed(m.Text)
	case *attach.Activity:
		a.working(m)
	case *attach.Inquiry:
		a.asked = m
		if a.person == nil {
			a.waits(m)
			return nil
		}
		return a.ask(ctx, *m)
	case *attach.Refused:
		a.noticed("That has no effect: " + m.Reason + ".")
		if a.asked != nil && a.person != nil { // it waits still
			return a.ask(ctx, *a.asked)
		}
	case *attach.Status:
		if a.menu && a.person != nil {
			a.menu = false
			defer a.printer.resume()
			return a.openMenu(ctx, *m)
		}
	case *attach.Closing:
		return &byeError{*m}
	}
	return nil
}

// A byeError is the last message of the process.
type byeError struct{ attach.Closing }

// Error is the reason that the connection ended.
func (e *byeError) Error() string { return e.Reason }

// ended is the result of the attachment, as an error.
func (a *attachment) ended(ctx context.Context, err error) error {
	var bye *byeError
	switch {
	case errors.Is(err, errLeave):
		_ = a.peer.Send(&attach.Detach{}) // gone is gone
		return a.left(a.peer.Hello().PID)
	case errors.Is(err, terminal.ErrHangup), errors.Is(err, turnloop.ErrNoAnswer):
		return &turnloop.Interrupt{Signal: "SIGHUP"}
	case errors.As(err, &bye) && bye.Ended:
		if a.person != nil {
			a.person.front.notify.tell(hasEnded)
		}
		return a.over(bye.Closing)
	case errors.As(err, &bye):
		return a.refused(bye.Reason)
	case errors.Is(err, attach.ErrGone):
		return a.lost(ctx)
	}
	return err
}

// refused is the error if the process refuses this client.
func (a *attachment) refused(why string) error {
	return problem.New(problem.ExitLocked, "locked", "%s cannot be attached to: %s.", a.id, why).About(a.id).
		Hint(action.Print(a.id.Short()), "how far it came").Hint(action.AttachJSON(a.id.Short()), "follows it without being asked")
}

// lost explains the end of a process that ended without a message.
func (a *attachment) lost(ctx context.Context) error {
	limited, cancel := context.WithTimeout(ctx, time.Second)
	defer cancel()
	if a.ends(limited) != nil {
		return problem.New(problem.ExitFailed, "not_found", "the connection to pid %d was lost; it goes on.", a.peer.Hello().PID).About(a.id).
			Hint(action.Attach(a.id.Short()), "attaches again")
	}
	f := problem.New(problem.ExitFailed, "not_found", "pid %d, which ran %s, is gone.", a.peer.Hello().PID, a.id).About(a.id)
	return f.Hint(action.Continue(a.id.Short()), "goes on with the turn").Hint(action.StatusOf(a.id.Short()), "how far it came")
}

// say sends the process a message. If the process is gone, its earlier messages are still in the inbox
// and tell why.
func (a *attachment) say(m attach.Message) error {
	if err := a.peer.Send(m); !errors.Is(err, attach.ErrGone) {
		return err
	}
	return nil
}

type AttachOptions struct {
	Tail    int // -1: the current turn
	After   int // number of an event; -1: as tail says
	Partial bool
	// Chat takes the function that sends messages to the turn, if a chat shows the turn. Else it is
	// nil.
	Chat func(say func(text string) error)
}

func RunAttach(ctx context.Context, e *Env, o AttachOptions, word string) error {
	r, err := e.OpenRepo(ctx)
	if err != nil {
		return err
	}
	defer r.Close()
	r.States().Sweep(ctx, e.Host)
	id, err := r.Find().ResolveRunning(ctx, e.Host, word, action.Attach, repo.Runs, false)
	if err != nil {
		return err
	}
	id = r.States().AskedIn(ctx, id)
	peer, err := r.Processes().Connect(ctx, id)
	var version *attach.VersionError
	switch {
	case errors.Is(err, repo.ErrNotRunning) && r.Standings().Recorder(id) != "":
		a := &attachment{env: e, repo: r, id: id, options: o}
		return a.followRecording(ctx)
	case errors.Is(err, repo.ErrNotRunning):
		return r.Processes().NotRunning(ctx, id, "attach to")
	case errors.As(err, &version):
		return problem.New(problem.ExitFailed, "internal", "%s: %v.", id, version).About(id).Hint(action.Kill(id.Short()), "ends it; its turn can be resumed")
	case err != nil:
		return err
	}
	a := &attachment{env: e, repo: r, id: id, peer: peer, options: o, inbox: newInbox()}
	a.ends = r.Processes().AwaitEnd(id)
	defer a.close()
	if !e.Format.Structured() && IsTerminal(e.Stdout) {
		front := &TerminalFront{Env: e, Repo: r, about: id}
		front.notify = front.newNotifier(id)
		if a.person = OpenClient(front); a.person != nil && a.person.own != nil {
			a.person.own.MayLeave()
		}
	}
	switch taken := a.person != nil && peer.Hello().Attached; {
	case taken && o.Chat != nil: // another terminal answers its questions
		a.person.Close()
		a.person = nil
	case taken:
		return a.refused("another terminal is attached already")
	}
	a.printer = a.newPrinter()
	if o.Chat != nil {
		o.Chat(func(text string) error { return peer.Send(&attach.Say{Text: text}) })
	}
	leave, menu := a.keys() // before anything is shown: then the keys work
	defer a.env.onLeave.Store(nil)
	defer a.env.onInterrupt.Store(nil)
	if err := a.begin(ctx, o); err != nil {
		return err
	}
	return a.run(ctx, leave, menu)
}

// begin shows the turn so far, and makes this terminal the one that is asked.
func (a *attachment) begin(ctx context.Context, o AttachOptions) error {
	if a.person != nil {
		if err := a.peer.Send(&attach.Attach{V: attach.Version}); err != nil {
			return err
		}
	}
	events, from, err := a.window(ctx, o)
	if err != nil {
		return repo.AboutConversation(err, a.id)
	}
	a.turn = events
	a.replay(events, from)
	a.reader.Go(func() { a.inbox.fill(ctx, a.peer.Follow(a.peer.Hello().Seq, a.repo.Store.Backward)) })
	return nil
}

// window are the events of the current turn, and the earlier ones to show; from is the number of the
// first event to show.
func (a *attachment) window(ctx context.Context, o AttachOptions) (events []*conversation.Event, from int, err error) {
	hello := a.peer.Hello()
	if o.After > hello.Seq {
		return nil, 0, problem.New(problem.ExitNotFound, "not_found", "%s has no event %d; its last is %d.", a.id, o.After, hello.Seq)
	}
	if hello.Head == "" {
		return nil, 0, nil
	}
	w := attachWindow{AttachOptions: o, from: hello.Seq + 1}
	for e, err := range a.repo.Store.Backward(ctx, hello.Head) {
		if err != nil {
			return nil, 0, err
		}
		if events = append(events, e); w.reached(e) {
			break
		}
	}
	slices.Reverse(events)
	return events, w.from, nil
}

// An attachWindow finds out, event by event from the newest one, how far back is
// shown, and how far has to be read.
type attachWindow struct {
	AttachOptions
	from    int  // the first event that is shown
	content int  // events so far that have text
	begun   bool // the current turn's start was among them
}

// reached reports whether an event is the last one that has to be read.
func (w *attachWindow) reached(e *conversation.Event) bool {
	if !e.Type().Internal() && e.Type() != conversation.TypeTurnStart {
		w.content++
	}
	switch {
	case w.After >= 0:
		w.from = w.After + 1
	case w.Tail != 0 && (!w.begun || w.content <= w.Tail):
		w.from = e.Seq
	}
	w.begun = w.begun || e.Type() == conversation.TypeTurnStart
	if w.After >= 0 {
		return w.begun && e.Seq <= w.After
	}
	return w.begun && w.content >= w.Tail
}
