package agent

import (
	"jp/agent/live"
	"jp/conversation"
	"jp/turnloop"
)

// A queueKeeper is an observer that lets the queue forget what has become an event.
type queueKeeper struct {
	turnloop.Observer
	queue *live.Queue
}

// Recorded implements [turnloop.Observer].
func (k queueKeeper) Recorded(events []*conversation.Event) {
	k.queue.Recorded(events)
	k.Observer.Recorded(events)
}
