package process

import (
	"context"
	"time"

	"jp/conversation"
)

// How often a lock is looked at that is waited for. After a long wait it is looked at less often, with a delay of a 32nd of the
// wait: 32 locks that jp watch waits for would take 5 % of a processor.
const (
	heldPoll   = 20 * time.Millisecond
	rarestPoll = 500 * time.Millisecond
)

// AwaitFree waits until no process holds the conversation. It takes no lock, so another process may hold it
// at once.
func (l Locks) AwaitFree(ctx context.Context, id conversation.ID) error {
	return await(ctx, func() bool {
		_, held := l.Held(id)
		return !held
	})
}

// AwaitEnd waits until this holder no longer holds the conversation. Another process may hold it then.
func (l Locks) AwaitEnd(ctx context.Context, id conversation.ID, holder Holder) error {
	return await(ctx, func() bool { return l.releasedBy(id, holder) })
}

func await(ctx context.Context, so func() bool) error {
	began := time.Now()
	again := time.NewTimer(heldPoll)
	defer again.Stop()
	for !so() {
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-again.C:
			again.Reset(min(max(heldPoll, time.Since(began)/32), rarestPoll))
		}
	}
	return nil
}
