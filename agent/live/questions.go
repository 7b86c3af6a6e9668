package live

import (
	"context"
	"errors"
	"sync"
	"time"

	"jp/agent/repo"
	"jp/conversation"
	"jp/internal/action"
	"jp/internal/safetext"
	"jp/process/attach"
	"jp/tool"
	"jp/turnloop"
)

// An Asker is the person at the terminal of the run.
type Asker interface {
	Ask(ctx context.Context, q turnloop.Question) (turnloop.Answer, error)
	Tell(line string)
}

// questions passes a turn's questions on: to the attached terminal, else to the process's own terminal, else
// to the user who attaches. An answer from any shell counts as long as the question waits, and the first one
// counts.
type questions struct {
	id      conversation.ID
	user    Asker // nil without a terminal to ask at
	server  *attach.Server
	limit   time.Duration // of the wait for a user to attach; 0: endless
	longer  func() bool   // whether to wait once more at the limit; nil: it ends
	reached func() bool   // whether a user can attach
	waiting func(q turnloop.Question)

	mu       sync.Mutex
	commands chan error // for the waiting question, or nil
}

// Present implements [turnloop.Prompter].
func (d *questions) Present() bool {
	attached, _ := d.server.Attached()
	return attached || d.user != nil
}

// Ask implements [turnloop.Prompter].
func (d *questions) Ask(ctx context.Context, q turnloop.Question) (turnloop.Answer, error) {
	return d.put(ctx, d.id, q, false)
}

// Await implements [turnloop.Prompter].
func (d *questions) Await(ctx context.Context, q turnloop.Question) (turnloop.Answer, error) {
	return d.await(ctx, d.id, q)
}

// await waits for an answer to a question of a conversation. The limit is for the time without an attached
// terminal: a user who has attached may think.
func (d *questions) await(ctx context.Context, id conversation.ID, q turnloop.Question) (turnloop.Answer, error) {
	if !d.reached() {
		return turnloop.Answer{}, turnloop.ErrNoAnswer
	}
	d.waiting(q)
	return d.put(ctx, id, q, true)
}

// put lets a question of a conversation wait for an answer, of people who are there or, if stay is set, of
// people in other processes.
func (d *questions) put(ctx context.Context, id conversation.ID, q turnloop.Question, stay bool) (turnloop.Answer, error) {
	commands := d.open() // before others know of the question
	defer d.close()
	pending := d.server.Ask(inquiryFor(id, q))
	defer pending.Withdraw()
	for {
		attached, moved := d.server.Attached()
		if !attached && d.user != nil {
			if answer, err := d.atTerminal(ctx, id, q, pending, moved, commands); !errors.Is(err, errAttached) {
				return answer, err
			}
			continue
		}
		if !attached && !stay {
			return turnloop.Answer{}, turnloop.ErrNoAnswer
		}
		if attached && d.user != nil {
			d.user.Tell(safetext.Show(tool.Verb(q.Inquiry.Call.Request.Name)) + " asks; the attached terminal answers.")
		}
		var late <-chan time.Time
		if !attached && d.limit > 0 {
			late = time.After(d.limit)
		}
		select {
		case a := <-pending.Answer():
			return AnswerOf(a), nil
		case err := <-commands:
			return turnloop.Answer{}, err
		case <-ctx.Done():
			return turnloop.Answer{}, context.Cause(ctx)
		case <-late:
			if d.longer == nil || !d.longer() {
				return turnloop.Answer{}, turnloop.ErrNoAnswer
			}
		case <-moved:
		}
	}
}

// errAttached ends a question that another terminal asks from now on.
var errAttached = errors.New("a user has attached")

// atTerminal asks at the process's own terminal, until an answer comes from elsewhere
// or attaches.
func (d *questions) atTerminal(
	ctx context.Context, id conversation.ID, q turnloop.Question, pending *attach.Pending, moved <-chan struct{}, commands <-chan error,
) (turnloop.Answer, error) {
	var elsewhere *attach.Answer
	asking, end := context.WithCancelCause(ctx)
	watch := sync.WaitGroup{}
	watch.Go(func() {
		select {
		case a := <-pending.Answer():
			elsewhere = &a
			end(turnloop.ErrElsewhere)
		case err := <-commands:
			end(err)
		case <-moved:
			end(errAttached)
		case <-asking.Done():
		}
	})
	if id != d.id {
		d.user.Tell(id.Short() + ", which works for this conversation, asks:")
	}
	answer, err := d.user.Ask(asking, q)
	end(nil)
	watch.Wait()
	if elsewhere != nil {
		return AnswerOf(*elsewhere), nil
	}
	return answer, err
}

// open begins a waiting question, which a command can end.
func (d *questions) open() <-chan error {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.commands = make(chan error, 1)
	return d.commands
}

func (d *questions) close() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.commands = nil
}

func (d *questions) asks() bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.commands != nil
}

// command ends the waiting question without an answer. It is false without one.
func (d *questions) command(c turnloop.UserCommand) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.commands == nil {
		return false
	}
	select {
	case d.commands <- &c:
		return true
	default: // another one came first
		return false
	}
}

func inquiryFor(id conversation.ID, q turnloop.Question) attach.Inquiry {
	i := attach.InquiryOf(id, q.Inquiry)
	i.Subject, i.Warning, i.Detail = q.Subject, q.Warning, q.Detail
	if q.Tool != nil && q.Tool.Timed {
		i.Command, i.LimitMS = q.Tool.Command, q.Tool.Timeout.Milliseconds()
	}
	return i
}

// AnswerOf is the answer of a person at another process.
func AnswerOf(a attach.Answer) turnloop.Answer {
	return turnloop.Answer{Outcome: a.Outcome, Value: a.Value, Reason: a.Reason, Arguments: a.Arguments, Remember: a.Remember}
}

// announceQuestion tells the reader of stderr that a question waits for a user, and how to answer it, also
// with --quiet: the wait may be endless.
func (p *Presence) announceQuestion(question turnloop.Question) {
	i := inquiryFor(p.options.ID, question)
	p.options.Env.Warn("%s waits for an answer: %s", p.options.ID, repo.QuestionWords(i))
	command := repo.AnswerCommand(i).String()
	p.options.Env.Warn("    %s   %s", command, repo.AnswerWords(i))
	p.options.Env.Warn("    %-*s   asks here", len(command), action.Attach(p.options.ID.Short()))
	switch limit := p.Limit(); {
	case limit == 0:
	case p.questions.longer != nil && p.questions.longer():
		p.options.Env.Warn("While this terminal is open, the question waits for its answer. Ctrl+C leaves it open.")
	default:
		p.options.Env.Warn("Without an answer jp exits in %s; the question stays open.", conversation.Ago(limit))
	}
}
