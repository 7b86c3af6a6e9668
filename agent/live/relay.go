package live

import (
	"time"

	"jp/conversation"
	"jp/process/attach"
	"jp/turnloop"
)

// A relay informs peers before it shows an event here, which may have to wait for the terminal.
type relay struct {
	turnloop.Observer
	server *attach.Server
	told   activityTeller
}

type activityTeller struct {
	id  conversation.ID
	now func() time.Time
}

func (t activityTeller) send(server *attach.Server, a turnloop.Activity) {
	server.Working(attach.Activity{
		Conversation: t.id, Seq: a.Seq, Call: a.Call, Name: a.Name, Argument: a.Argument, Hook: a.Hook,
		SinceMS: t.now().Sub(a.Started).Milliseconds(), Waits: a.Waits, Part: a.Part, Writing: a.Writing, Tokens: a.Tokens, Context: a.Context, Window: a.Window,
		Tail: a.Tail, Progress: a.Progress, Over: a.Over,
	})
}

// Working implements [turnloop.Observer].
func (r *relay) Working(a turnloop.Activity) {
	r.told.send(r.server, a)
	r.Observer.Working(a)
}

// Recorded implements [turnloop.Observer].
func (r *relay) Recorded(events []*conversation.Event) {
	r.server.Recorded(events)
	r.Observer.Recorded(events)
}

// Streamed implements [turnloop.Observer].
func (r *relay) Streamed(d turnloop.Delta) {
	r.server.Streamed(attach.Delta{Seq: d.Seq, Call: d.Call, Part: d.Part, At: d.At, Text: d.Text})
	r.Observer.Streamed(d)
}

// Noticed implements [turnloop.Observer].
func (r *relay) Noticed(text string) {
	r.server.Noticed(text)
	r.Observer.Noticed(text)
}
