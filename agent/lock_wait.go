package agent

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"jp/agent/presence"
	"jp/agent/repo"
	"jp/internal/safetext"
	"jp/process"
	"jp/turnloop"
)

// silence is how long a conversation is waited for before anything is said.
const silence = 300 * time.Millisecond

// What ends the wait for a key.
var (
	errStillHeld = errors.New("the conversation is still held")
	errFree      = errors.New("the conversation is free")
	errNews      = errors.New("its process has news")
)

// take takes the conversation for this query. Where a person is there, a process
// that holds it is waited for, and they may ask elsewhere instead.
func (q *query) take(ctx context.Context) error {
	if q.fresh {
		return nil
	}
	err := q.lock()
	var locked *process.LockedError
	if !errors.As(err, &locked) {
		return err
	}
	if !q.opts.Detach {
		q.findUser()
	}
	if q.user == nil {
		return q.locked(ctx, locked)
	}
	w := &busyWait{query: q, locked: locked}
	quiet, cancel := context.WithTimeoutCause(ctx, silence, errStillHeld)
	defer cancel()
	if err := q.lockWhenFree(quiet); !errors.Is(err, errStillHeld) {
		return w.ended(ctx, err)
	}
	return w.run(ctx)
}

// lockWhenFree takes the conversation as soon as nobody holds it.
func (q *query) lockWhenFree(ctx context.Context) error {
	for {
		if err := q.repo.Locks.AwaitFree(ctx, q.id); err != nil {
			return err
		}
		if err := q.lock(); !errors.Is(err, process.ErrLocked) {
			return err
		}
	}
}

// A busyWait is the wait for a conversation that another process holds, at a
// terminal.
type busyWait struct {
	query  *query
	locked *process.LockedError // by whom, as it was last seen
}

// run waits for the conversation or for the user's choice.
func (w *busyWait) run(ctx context.Context) error {
	for {
		key, err := w.once(ctx)
		switch {
		case errors.Is(err, errFree):
			w.query.user.Tell("It is free.")
			return nil
		case errors.Is(err, errNews):
			w.query.user.Tell("")
			continue
		case errors.Is(err, ErrUserLeft), errors.Is(err, ErrUserSilent):
			return w.leave(ctx)
		case err != nil:
			w.query.user.Tell("")
			return w.ended(ctx, err)
		case key != 'a':
			return w.choose(ctx, key)
		}
		if err := w.attach(ctx); err != nil {
			return w.ended(ctx, err)
		}
	}
}

// once says what the other process does, and waits for a key, for the
// conversation or for news, whichever comes first. All that it starts has ended
// when it returns, and the lock is held only where it is errFree.
func (w *busyWait) once(ctx context.Context) (rune, error) {
	q := w.query
	there := presence.LookAt(ctx, q.repo, q.id, w.locked.Holder)
	defer there.Close()
	w.locked.Holder = there.Process
	waiting, end := context.WithCancelCause(ctx)
	defer end(nil)
	var others sync.WaitGroup
	others.Go(func() {
		err := q.lockWhenFree(waiting)
		if err == nil {
			err = errFree
		}
		end(err)
	})
	others.Go(func() {
		if there.Changes(waiting) {
			end(errNews)
		}
	})
	key, err := q.user.Decide(waiting, w.decision(there))
	end(nil)
	others.Wait()
	switch {
	case q.held == nil:
	case errors.Is(err, errNews):
		err = errFree
	case !errors.Is(err, errFree):
		q.held.Release()
		q.held = nil
	}
	return key, err
}

// attach looks at the other process from here, as jp attach does. How that ended
// matters only where jp is to end.
func (w *busyWait) attach(ctx context.Context) error {
	err := w.query.front.Attach(ctx, w.query.id)
	var interrupt *turnloop.Interrupt
	if errors.As(err, &interrupt) || ctx.Err() != nil {
		return err
	}
	if err != nil {
		w.query.user.Tell(safetext.Clean(repo.ProblemOf(err).Message))
	}
	return nil
}

// choose goes elsewhere, or leaves.
func (w *busyWait) choose(ctx context.Context, key rune) error {
	q := w.query
	switch key {
	case 'f':
		q.opts.Stdin = q.front.Reads() // what is piped in is asked, too
		q.opts.Fork, q.opts.ID, q.opts.DiscardTurn = ForkAtEnd, string(q.id), true
	case 'n':
		q.opts.New, q.opts.ID, q.opts.DiscardTurn = true, "", false
	default:
		return w.leave(ctx)
	}
	if err := q.target(ctx); err != nil {
		return err
	}
	return q.take(ctx)
}

// ended is the end of a wait. A signal that a key or the loss of the terminal
// stands for leaves, as they do.
func (w *busyWait) ended(ctx context.Context, err error) error {
	var interrupt *turnloop.Interrupt
	if errors.As(err, &interrupt) && interrupt.Signal != "SIGTERM" || errors.Is(err, ErrUserGone) {
		return w.leave(context.WithoutCancel(ctx))
	}
	return err
}

// leave gives up; what was to be asked is kept.
func (w *busyWait) leave(ctx context.Context) error {
	return w.query.keepText(w.query.locked(ctx, w.locked))
}

// elsewhere reports whether the user may ask somewhere else.
func (w *busyWait) elsewhere() bool { return !w.query.settlesOnly() }

// decision says what the other process does and what can be done meanwhile.
func (w *busyWait) decision(there *presence.Holder) UserDecision {
	d := UserDecision{Text: fmt.Sprintf("%s is busy: %s.\n", w.query.id, there.Words(w.query.env.Now()))}
	if there.Inquiry != nil {
		d.Text += fmt.Sprintf("It waits for an answer: %s\n", repo.QuestionWords(*there.Inquiry))
	} else {
		d.Text += "Waiting for it.\n"
	}
	if there.Peer != nil && w.query.front.Attaches() {
		d.Choices = append(d.Choices, UserChoice{'a', "attach"})
	}
	if w.elsewhere() {
		d.Choices = append(d.Choices, UserChoice{'f', "ask in a fork"}, UserChoice{'n', "ask in a new conversation"})
	}
	d.Choices = append(d.Choices, UserChoice{'q', "leave (Ctrl+C)"})
	return d
}
