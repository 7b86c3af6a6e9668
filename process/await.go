package process

import (
	"context"
	"time"

	"jp/conversation"
)

// heldPoll is how often a lock is looked at that is waited for.
const heldPoll = 20 * time.Millisecond

// AwaitFree waits until nobody holds the conversation. It takes nothing: who
// comes next may hold it at once.
func (l Locks) AwaitFree(ctx context.Context, id conversation.ID) error {
	again := time.NewTicker(heldPoll)
	defer again.Stop()
	for {
		if _, held := l.Held(id); !held {
			return nil
		}
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-again.C:
		}
	}
}
