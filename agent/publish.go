package agent

import (
	"errors"
	"fmt"
	"net"
	"sync"
	"time"

	"jp/agent/repo"
	"jp/conversation"
	"jp/process"
	"jp/process/attach"
	"jp/tool/program"
	"jp/turnloop"
)

// A presence is how others see a query while it runs, and reach it.
type presence struct {
	registry process.Registry
	server   *attach.Server
	put      sync.Mutex // of the entry, which always says what is so now
	entry    process.Entry
	over     bool
}

// serve makes what peers will speak with. Nobody can reach it before appear.
func (q *query) serve() {
	if q.server != nil {
		return
	}
	seq := -1
	if q.stream.Len() > 0 {
		seq = q.stream.Last().Seq
	}
	q.server = attach.NewServer(attach.Options{
		Conversation: q.id, PID: repo.PID(), Head: q.head, Seq: seq,
		Doing: q.doing, Interrupt: q.interruptedBy, Changed: q.tell,
		Shutdown: func() { q.front.Abort("SIGTERM") },
	})
}

// appear registers the query and lets others reach it, once. The lock is held. A
// detached query that nobody can reach is none; any other one goes on.
func (q *query) appear() error {
	if q.presence != nil {
		return nil
	}
	err := q.register()
	if err == nil {
		return q.handover.Ready()
	}
	if q.handover != nil {
		return err
	}
	q.out.Noticed(fmt.Sprintf("Other terminals cannot reach this: %v", err))
	return nil
}

func (q *query) register() error {
	registry, err := q.repo.Processes().Registry()
	if err != nil {
		return err
	}
	p := &presence{registry: registry, server: q.server, entry: process.Entry{
		ConversationID: q.id, PID: repo.PID(), Start: process.StartOf(repo.PID()), StartedAt: q.env.Now().UTC(), Status: process.StatusRunning,
		Detached: q.handover != nil,
	}}
	if q.handover != nil {
		p.entry.Log = q.handover.Log
	}
	if other, err := registry.Get(q.id); err == nil && !registry.Owns(other) {
		if _, lives := (process.LocksIn(other.Repository)).Held(q.id); lives {
			return fmt.Errorf("a copy of this repository, %s, runs the same conversation (pid %d)", other.Repository, other.PID)
		}
	}
	if err := p.update(); err != nil {
		return err
	}
	listener, err := registry.Listen(q.id)
	if err != nil {
		return errors.Join(err, registry.Remove(q.id))
	}
	q.presence = p
	q.server.Serve(ownPeers{listener, q.repo.Locks})
	return nil
}

// update writes the entry as it is now.
func (p *presence) update() error {
	p.put.Lock()
	defer p.put.Unlock()
	if p.over {
		return nil
	}
	state := p.server.State()
	p.entry.Attached, p.entry.Pending, p.entry.Status = state.Attached, nil, process.StatusRunning
	if w := state.Pending; w != nil {
		p.entry.Status = process.StatusWaiting
		p.entry.Pending = &process.PendingInquiry{Kind: string(w.Kind), ToolName: w.Tool, AnswerType: w.AnswerType.Type, Seq: w.Seq}
	}
	return p.registry.Put(p.entry)
}

// tell lets the registry say what is so now. That it cannot costs others a word
// in a list.
func (q *query) tell() {
	if p := q.presence; p != nil {
		_ = p.update()
	}
}

// disappear says goodbye. The lock is still held, so nobody else has an entry.
func (q *query) disappear(err error) {
	if q.server != nil {
		q.server.Close(q.bye(err))
	}
	p := q.presence
	if p == nil {
		return
	}
	p.put.Lock()
	defer p.put.Unlock()
	p.over = true
	_ = p.registry.Remove(q.id) // one that is left is removed by whoever meets it
}

// bye is what the query came to.
func (q *query) bye(err error) attach.Bye {
	bye := attach.Bye{Reason: "the turn has ended", Ended: true, Status: string(q.outcome.Status)}
	if err != nil {
		f := repo.ProblemOf(err)
		bye.Exit, bye.Text = f.Exit, f.Message
		bye.Reason = "the process has ended"
	}
	return bye
}

// ownPeers lets in this user, and nothing that a tool started.
type ownPeers struct {
	*net.UnixListener
	locks process.Locks
}

// Accept implements [net.Listener].
func (l ownPeers) Accept() (net.Conn, error) {
	for {
		conn, err := l.AcceptUnix()
		if err != nil {
			return nil, err
		}
		if err = l.check(conn); err == nil {
			return conn, nil
		}
		if line, encoded := attach.Encode(&attach.Bye{Reason: err.Error()}); encoded == nil {
			_ = conn.SetWriteDeadline(time.Now().Add(time.Second))
			_, _ = conn.Write(line)
		}
		conn.Close()
	}
}

func (l ownPeers) check(conn *net.UnixConn) error {
	if err := process.CheckPeer(conn); err != nil {
		return err
	}
	if pid, err := process.PeerPID(conn); err == nil && l.locks.FromTool(pid, program.Marker) {
		return ErrFromTool
	}
	return nil
}

// ErrFromTool says that the model is at the other end, and not the user.
var ErrFromTool = errors.New("a program that a tool started may not take part in conversations")

// A relay tells peers what happens before it is shown here, which may have to
// wait for the terminal.
type relay struct {
	turnloop.Observer
	server *attach.Server
	told   activityTeller
}

// An activityTeller tells peers what a conversation does.
type activityTeller struct {
	id  conversation.ID
	now func() time.Time
}

func (t activityTeller) tell(server *attach.Server, a turnloop.Activity) {
	server.Working(attach.Activity{
		Conversation: t.id, Seq: a.Seq, Call: a.Call, Name: a.Name, Argument: a.Argument, Hook: a.Hook,
		SinceMS: t.now().Sub(a.Started).Milliseconds(), Waits: a.Waits, Part: a.Part, Writing: a.Writing, Tokens: a.Tokens,
		Tail: a.Tail, Progress: a.Progress, Over: a.Over,
	})
}

// Working implements [turnloop.Observer].
func (r *relay) Working(a turnloop.Activity) {
	r.told.tell(r.server, a)
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
