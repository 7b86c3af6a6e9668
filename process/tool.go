package process

import (
	"context"
	"fmt"
	"time"

	"golang.org/x/sys/unix"

	"jp/conversation"
)

// How often a tool that outlived jp is looked at, and how long it has to end
// after it was asked to.
const (
	toolPoll  = 50 * time.Millisecond
	toolGrace = 5 * time.Second
)

// AwaitTool waits until no process of an earlier tool run lives.
func (l Locks) AwaitTool(ctx context.Context, id conversation.ID, seq int) error {
	for l.ToolAlive(id, seq) {
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-time.After(toolPoll):
		}
	}
	return nil
}

// EndTool ends the processes of an earlier tool run: it asks them, and kills
// them after five seconds. Only a process that holds the run's own lock file
// open is signalled, whatever number it has.
func (l Locks) EndTool(ctx context.Context, id conversation.ID, seq int) error {
	path := l.toolPath(id, seq)
	for _, signal := range []unix.Signal{unix.SIGTERM, unix.SIGKILL} {
		if err := signalHolders(path, signal); err != nil {
			return fmt.Errorf("end the tool of event %d: %w", seq, err)
		}
		limited, cancel := context.WithTimeout(ctx, toolGrace)
		err := l.AwaitTool(limited, id, seq)
		cancel()
		if err == nil || ctx.Err() != nil {
			return context.Cause(ctx)
		}
	}
	return fmt.Errorf("%w: the tool of event %d does not end", ErrToolAlive, seq)
}
