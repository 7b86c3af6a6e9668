package agent

import (
	"context"
	"errors"
	"fmt"
	"os"
	"sync"
	"time"

	"jp/agent/live"
	"jp/agent/problem"
	"jp/agent/repo"
	"jp/internal/action"
	"jp/internal/safetext"
	"jp/process"
	"jp/turnloop"
)

// lock takes the conversation for this process, or fails with a
// *process.LockedError.
func (t *target) lock() error {
	holder := process.Holder{
		PID: os.Getpid(), Start: process.StartOf(os.Getpid()), Started: t.run.env.Now().UTC(), Session: t.run.repo.Session(t.run.env).Name, Detached: t.run.background != nil,
	}
	if t.run.background != nil {
		held, err := t.run.repo.Locks.TakeOver(t.id, t.run.background.Lock, holder)
		t.res.held = held
		return err
	}
	held, err := t.run.repo.Locks.Take(t.id, holder)
	if repo.IsReadOnly(err) {
		return t.unwritable(err)
	}
	t.res.held = held
	return err
}

var errMoved = errors.New("the conversation has changed")

// locked is the error that names the process which has the conversation.
func (t *target) locked(ctx context.Context, locked *process.LockedError) *problem.Error {
	h := t.run.repo.Processes().Holding(ctx, locked)
	f := h.Reaching(h.Failure(t.run.env.Now()))
	switch {
	case t.run.settlesOnly():
	case h.Broken:
		f.Hint(action.AskInForkWithout(string(h.Locked.ID)), "ask in a fork, without the turn that runs")
	default:
		f.Hint(action.AskInFork(string(h.Locked.ID)), "ask in a fork")
	}
	if !t.run.settlesOnly() {
		f.Hint(action.AskNew, "ask in a new conversation")
		f.Hint(action.AskBeside(string(h.Locked.ID)), "ask beside it; nothing is recorded")
	}
	return h.Killing(f)
}

// silence is how long jp waits for a conversation before it tells the user.
const silence = 300 * time.Millisecond

// The reasons that end the wait for a key.
var (
	errStillHeld = errors.New("the conversation is still held")
	errFree      = errors.New("the conversation is free")
	errNews      = errors.New("its process has news")
)

// acquireLock takes the conversation for this run. At a terminal it waits for a process that holds it, and
// offers to ask elsewhere instead.
func (t *target) acquireLock(ctx context.Context) error {
	if t.fresh {
		return nil
	}
	err := t.lock()
	var locked *process.LockedError
	if !errors.As(err, &locked) {
		return err
	}
	if !t.run.opts.Detach {
		t.run.findUser()
	}
	if t.res.user == nil {
		return t.locked(ctx, locked)
	}
	w := &busyWait{run: t.run, res: t.res, target: t, holder: locked}
	quiet, cancel := context.WithTimeoutCause(ctx, silence, errStillHeld)
	defer cancel()
	if err := t.lockWhenFree(quiet); !errors.Is(err, errStillHeld) {
		return w.ended(ctx, err)
	}
	return w.wait(ctx)
}

// lockWhenFree takes the conversation as soon as it is free.
func (t *target) lockWhenFree(ctx context.Context) error {
	for {
		if err := t.run.repo.Locks.AwaitFree(ctx, t.id); err != nil {
			return err
		}
		if err := t.lock(); !errors.Is(err, process.ErrLocked) {
			return err
		}
	}
}

// A busyWait is the wait for a conversation that another process holds, at a
// terminal.
type busyWait struct {
	run    *run
	res    *resources
	target *target
	holder *process.LockedError // by whom, as it was last seen
}

// wait waits for the conversation or for the user's choice.
func (w *busyWait) wait(ctx context.Context) error {
	for {
		key, err := w.waitOnce(ctx)
		switch {
		case errors.Is(err, errFree):
			w.res.user.Tell("It is free.")
			return nil
		case errors.Is(err, errNews):
			w.res.user.Tell("")
			continue
		case errors.Is(err, ErrUserLeft), errors.Is(err, ErrUserSilent):
			return w.leave(ctx)
		case err != nil:
			w.res.user.Tell("")
			return w.ended(ctx, err)
		case key != 'a':
			return w.choose(ctx, key)
		}
		if err := w.attach(ctx); err != nil {
			return w.ended(ctx, err)
		}
	}
}

// waitOnce tells the user about the other process, and waits for a key, for the conversation or for news,
// whichever comes first. All its goroutines have ended when it returns, and it holds the lock only if it
// returns errFree.
func (w *busyWait) waitOnce(ctx context.Context) (rune, error) {
	there := live.LookAtHolder(ctx, w.run.repo, w.target.id, w.holder.Holder)
	defer there.Close()
	w.holder.Holder = there.Process
	waiting, end := context.WithCancelCause(ctx)
	defer end(nil)
	var others sync.WaitGroup
	others.Go(func() {
		err := w.target.lockWhenFree(waiting)
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
	key, err := w.res.user.Decide(waiting, w.decision(there))
	end(nil)
	others.Wait()
	switch {
	case w.res.held == nil:
	case errors.Is(err, errNews):
		err = errFree
	case !errors.Is(err, errFree):
		w.res.held.Release()
		w.res.held = nil
	}
	return key, err
}

// attach looks at the other process from here, as jp attach does. Its error matters only if jp has to end.
func (w *busyWait) attach(ctx context.Context) error {
	err := w.run.front.Attach(ctx, w.target.id)
	var interrupt *turnloop.Interrupt
	if errors.As(err, &interrupt) || ctx.Err() != nil {
		return err
	}
	if err != nil {
		w.res.user.Tell(safetext.Clean(repo.ProblemOf(err).Message))
	}
	return nil
}

// choose goes elsewhere, or leaves.
func (w *busyWait) choose(ctx context.Context, key rune) error {
	switch key {
	case 'f':
		w.run.opts.Input.Stdin = w.run.front.Reads() // the piped text is asked, too
		w.run.opts.Target.Fork, w.run.opts.Target.ID, w.run.opts.Resume.Discard = ForkAtEnd, string(w.target.id), true
	case 'n':
		w.run.opts.Target.New, w.run.opts.Target.ID, w.run.opts.Resume.Discard = true, "", false
	default:
		return w.leave(ctx)
	}
	if err := w.target.find(ctx); err != nil {
		return err
	}
	return w.target.acquireLock(ctx)
}

// ended is the end of a wait. Any signal but SIGTERM gives up, as does the loss of the terminal.
func (w *busyWait) ended(ctx context.Context, err error) error {
	var interrupt *turnloop.Interrupt
	if errors.As(err, &interrupt) && interrupt.Signal != "SIGTERM" || errors.Is(err, ErrUserGone) {
		return w.leave(context.WithoutCancel(ctx))
	}
	return err
}

// leave gives up, and keeps the text to ask.
func (w *busyWait) leave(ctx context.Context) error {
	return w.target.keepText(w.target.locked(ctx, w.holder))
}

// decision tells the user what the other process does, and offers the choices meanwhile.
func (w *busyWait) decision(there *live.Holder) UserDecision {
	d := UserDecision{Text: fmt.Sprintf("%s is busy: %s.\n", w.target.id, there.Words(w.run.env.Now()))}
	if there.Inquiry != nil {
		d.Text += fmt.Sprintf("It waits for an answer: %s\n", repo.QuestionWords(*there.Inquiry))
	} else {
		d.Text += "Waiting for it.\n"
	}
	if there.Peer != nil && w.run.front.Attaches() {
		d.Choices = append(d.Choices, UserChoice{'a', "attach"})
	}
	if !w.run.settlesOnly() {
		d.Choices = append(d.Choices, UserChoice{'f', "ask in a fork"}, UserChoice{'n', "ask in a new conversation"})
	}
	d.Choices = append(d.Choices, UserChoice{'q', "leave (Ctrl+C)"})
	return d
}
