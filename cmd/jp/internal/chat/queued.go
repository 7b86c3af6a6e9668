package chat

import (
	"sync"

	"jp/agent/live"
	"jp/agent/problem"
	"jp/conversation"
	"jp/internal/safetext"
)

// A queued list is the messages that wait for the turn that runs, and what is shown of them above the line.
type queued struct {
	mu    sync.Mutex
	queue *live.Queue
	shown []string
}

func (q *queued) open(queue *live.Queue) {
	q.mu.Lock()
	q.queue = queue
	q.mu.Unlock()
}

// messages are those that wait.
func (q *queued) messages() *live.Queue {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.queue
}

// show shows the messages above the line. It returns those that were shown and went to the model since.
func (q *queued) show(above line, dim func(string) string) (sent []string) {
	var lines, texts []string
	waiting := q.messages().Waiting()
	for _, m := range waiting {
		texts = append(texts, m.Text)
	}
	q.mu.Lock()
	sent = q.shown[:max(0, len(q.shown)-len(texts))]
	q.shown = texts
	q.mu.Unlock()
	for i, m := range waiting {
		if i == 3 {
			lines = append(lines, dim(conversation.Count(len(waiting)-3, "message")+" more"))
			break
		}
		lines = append(lines, dim("queued: "+safetext.Clean(problem.OneLine(m.Text))))
	}
	above.Above(lines...)
	return sent
}
