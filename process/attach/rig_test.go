package attach_test

import (
	"context"
	"fmt"
	"iter"
	"net"
	"slices"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"jp/conversation"
	"jp/process/attach"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const id = conversation.ID("jp-c17528832001-k3f9")

// testingT is the common part of testing.T and rapid.T.
type testingT interface {
	require.TestingT
	Helper()
	Cleanup(func())
	Context() context.Context
}

// A journal holds events as a store does. Its commits are named by their numbers.
type journal struct {
	mu     sync.Mutex
	events []*conversation.Event
}

func commit(seq int) string { return fmt.Sprintf("c%05d", seq) }

// add makes an event durable.
func (j *journal) add(body conversation.Body) *conversation.Event {
	j.mu.Lock()
	defer j.mu.Unlock()
	seq := len(j.events)
	e := &conversation.Event{Seq: seq, Commit: commit(seq), Subject: fmt.Sprintf("event %d", seq), Body: body}
	j.events = append(j.events, e)
	return e
}

// back implements [attach.ReverseReader].
func (j *journal) back(_ context.Context, head conversation.Head) iter.Seq2[*conversation.Event, error] {
	return func(yield func(*conversation.Event, error) bool) {
		j.mu.Lock()
		at := slices.IndexFunc(j.events, func(e *conversation.Event) bool { return e.Commit == string(head) })
		read := slices.Clone(j.events[:at+1])
		j.mu.Unlock()
		for _, e := range slices.Backward(read) {
			if !yield(e, nil) {
				return
			}
		}
	}
}

// pipes is a listener without a file system.
type pipes struct {
	conns  chan net.Conn
	errs   chan error
	closed chan struct{}
	once   sync.Once
}

func newPipes() *pipes {
	return &pipes{conns: make(chan net.Conn), errs: make(chan error), closed: make(chan struct{})}
}

// Accept implements [net.Listener].
func (p *pipes) Accept() (net.Conn, error) {
	select {
	case conn := <-p.conns:
		return conn, nil
	case err := <-p.errs:
		return nil, err
	case <-p.closed:
		return nil, net.ErrClosed
	}
}

// Close implements [net.Listener].
func (p *pipes) Close() error {
	p.once.Do(func() { close(p.closed) })
	return nil
}

// Addr implements [net.Listener].
func (p *pipes) Addr() net.Addr { return &net.UnixAddr{} }

// dial connects to a listener that is open.
func (p *pipes) dial() net.Conn {
	mine, theirs := net.Pipe()
	p.conns <- theirs
	return mine
}

// A rig is a server that peers can reach.
type rig struct {
	*attach.Server
	t     testingT
	log   journal
	pipes *pipes
}

// newRig serves a conversation without events.
func newRig(t testingT, opts attach.Options) *rig {
	opts.Conversation, opts.Seq = id, -1
	r := &rig{Server: attach.NewServer(opts), t: t, pipes: newPipes()}
	r.Serve(r.pipes)
	t.Cleanup(func() { r.Close(attach.Closing{Reason: "over"}) })
	return r
}

// record makes an event durable and tells of it.
func (r *rig) record(body conversation.Body) *conversation.Event {
	e := r.log.add(body)
	r.Recorded([]*conversation.Event{e})
	return e
}

// dial is a connection before the first message.
func (r *rig) dial() net.Conn {
	r.t.Helper()
	mine := r.pipes.dial()
	r.t.Cleanup(func() { mine.Close() })
	return mine
}

// connect is a client that was greeted.
func (r *rig) connect() *attach.Client {
	r.t.Helper()
	c, err := attach.Connect(r.t.Context(), r.dial())
	require.NoError(r.t, err)
	return c
}

// attach is a client that is asked.
func (r *rig) attach() *attach.Client {
	r.t.Helper()
	c := r.connect()
	send(r.t, c, &attach.Attach{V: attach.Version})
	settle(r.t, c)
	return c
}

func send(t testingT, c *attach.Client, m attach.Message) {
	t.Helper()
	require.NoError(t, c.Send(m))
}

// next is the next message, which is a T.
func next[T attach.Message](t testingT, c *attach.Client) T {
	t.Helper()
	m, err := c.Next()
	require.NoError(t, err)
	require.IsType(t, *new(T), m)
	return m.(T)
}

// settle waits until the server has taken all that a client said.
func settle(t testingT, c *attach.Client) {
	t.Helper()
	send(t, c, &attach.Interrupt{})
	next[*attach.Status](t, c)
}

// gone requires that the messages have ended.
func gone(t testingT, c *attach.Client) {
	t.Helper()
	m, err := c.Next()
	require.ErrorIs(t, err, attach.ErrGone, "%#v", m)
}

func question(seq int) attach.Inquiry {
	return attach.Inquiry{
		Conversation: id, Seq: seq, Kind: conversation.KindToolQuestion, Tool: "ask", Text: "Really?",
		AnswerType: conversation.AnswerType{Type: "boolean"},
	}
}

// socket listens on a unix socket.
func socket(t *testing.T) (l net.Listener, dial func() (net.Conn, error)) {
	t.Helper()
	path := t.TempDir() + "/s"
	l, err := net.Listen("unix", path)
	require.NoError(t, err)
	return l, func() (net.Conn, error) { return net.Dial("unix", path) }
}
