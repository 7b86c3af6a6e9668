package chat

import (
	"sync"

	"jp/agent/live"
	"jp/agent/problem"
	"jp/conversation"
	"jp/internal/safetext"
)

// A queued list is the messages that wait for the turn that runs.
type queued struct {
	mu    sync.Mutex
	queue *live.Queue
}

func (q *queued) open(queue *live.Queue) {
	q.mu.Lock()
	q.queue = queue
	q.mu.Unlock()
}

func (q *queued) messages() *live.Queue {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.queue
}

// show shows the messages above the line.
func (q *queued) show(above line, dim func(string) string) {
	var lines []string
	waiting := q.messages().Waiting()
	for i, m := range waiting {
		if i == 3 {
			lines = append(lines, dim(conversation.Count(len(waiting)-3, "message")+" more"))
			break
		}
		lines = append(lines, dim("queued: "+safetext.Clean(problem.OneLine(m.Text))))
	}
	above.Above(lines...)
}
