package process

import (
	"context"
	"errors"
	"fmt"
	"time"

	"golang.org/x/sys/unix"

	"jp/conversation"
)

// endGrace is how long a process has to end after it was asked to, and endPoll
// how often it is looked at.
const (
	endGrace = 10 * time.Second
	endPoll  = 20 * time.Millisecond
)

// End ends the process that holds a conversation, as Held returned it. It asks, kills after grace (zero is
// ten seconds), and returns as soon as that process lets go, or at once if the conversation is free. It
// signals a process only if that provably began when the holder did and has the lock. Otherwise the error is
// ErrNotHolder.
func (l Locks) End(ctx context.Context, id conversation.ID, holder Holder, grace time.Duration) error {
	if grace == 0 {
		grace = endGrace
	}
	now, held := l.Held(id)
	if !held {
		return nil
	}
	if !now.same(holder) {
		return fmt.Errorf("end pid %d: %w: pid %d holds %s now", holder.PID, ErrNotHolder, now.PID, id)
	}
	p, err := pin(holder, l.path(id))
	if err != nil {
		if done, _ := l.awaitEnd(ctx, id, holder, endPoll); done {
			return nil // it was ending by itself
		}
		return fmt.Errorf("end pid %d: %w", holder.PID, err)
	}
	defer p.close()
	for _, signal := range []unix.Signal{unix.SIGTERM, unix.SIGKILL} {
		if err := p.signal(signal); err != nil {
			return fmt.Errorf("end pid %d: %w", holder.PID, err)
		}
		done, err := l.awaitEnd(ctx, id, holder, grace)
		if done || err != nil {
			return err
		}
	}
	return fmt.Errorf("%w: pid %d was killed, and something still holds %s", ErrLocked, holder.PID, id)
}

// awaitEnd waits for the holder to let go, and reports whether it did.
func (l Locks) awaitEnd(ctx context.Context, id conversation.ID, holder Holder, grace time.Duration) (bool, error) {
	limited, cancel := context.WithTimeoutCause(ctx, grace, errGrace)
	defer cancel()
	for !l.releasedBy(id, holder) {
		select {
		case <-limited.Done():
			if err := context.Cause(limited); !errors.Is(err, errGrace) {
				return false, err
			}
			return false, nil
		case <-time.After(endPoll):
		}
	}
	return true, nil
}

// errGrace says that a process had its time.
var errGrace = errors.New("the time to end is over")

// releasedBy reports whether this holder no longer holds the conversation.
func (l Locks) releasedBy(id conversation.ID, holder Holder) bool {
	now, held := l.Held(id)
	return !held || !now.same(holder)
}
