package attach

import (
	"errors"
	"net"
	"sync"
	"time"

	"jp/conversation"
)

// Limits of a server's memory of peers.
const (
	maxPeers     = 16
	maxUnsent    = 1 << 20 // bytes that a peer has not taken yet
	closeTimeout = time.Second
	acceptGap    = 50 * time.Millisecond // after an error of the listener
)

// Options describe the server's turn. Its functions may be nil, may be called from any goroutine, and must
// not wait for the server's Close.
type Options struct {
	Conversation conversation.ID
	PID          int
	Head         conversation.Head // the newest event, or ""
	Seq          int               // its number, or -1

	// Doing is the present step of the turn that can be interrupted.
	Doing func() Status
	// Interrupt acts on a peer's command. Its error goes to the peer.
	Interrupt func(Interrupt) error
	// Say keeps a message for the next boundary of the turn, and counts those that wait. Its error is told to the
	// peer.
	Say func(text string) (waiting int, err error)
	// Shutdown ends the turn and the process.
	Shutdown func()
	// Changed is called when a terminal attaches or leaves, and when a question begins
	// or ceases to wait. It asks State.
	Changed func()
}

// A State describes a process to others.
type State struct {
	Attached bool
	Pending  *Inquiry // optional
}

// A Server tells peers of one turn, and acts on their messages.
type Server struct {
	opts   Options
	group  sync.WaitGroup
	closed chan struct{}

	mu        sync.Mutex
	head      conversation.Head
	seq       int
	text      inFlight
	ongoing   []ongoing
	peers     map[*peer]bool
	attached  *peer
	pending   *Pending
	moved     chan struct{} // closed and replaced when somebody attaches or leaves
	bye       *Closing      // of Close; nil before it
	listeners []net.Listener
}

// NewServer returns a server without a listener.
func NewServer(opts Options) *Server {
	return &Server{
		opts: opts.whole(), head: opts.Head, seq: opts.Seq, peers: map[*peer]bool{}, moved: make(chan struct{}), closed: make(chan struct{}),
	}
}

// whole gives the functions that are nil.
func (o Options) whole() Options {
	if o.Doing == nil {
		o.Doing = func() Status { return Status{} }
	}
	if o.Interrupt == nil {
		o.Interrupt = func(Interrupt) error { return errNoInterrupt }
	}
	if o.Say == nil {
		o.Say = func(string) (int, error) { return 0, errNoMessage }
	}
	if o.Shutdown == nil {
		o.Shutdown = func() {}
	}
	if o.Changed == nil {
		o.Changed = func() {}
	}
	return o
}

// Serve takes peers from a listener until Close. It takes the listener over, and
// returns at once. It goes on after an error of the listener: later peers may come.
func (s *Server) Serve(l net.Listener) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.bye != nil {
		l.Close()
		return
	}
	s.listeners = append(s.listeners, l)
	s.group.Go(func() { s.accept(l) })
}

func (s *Server) accept(l net.Listener) {
	for {
		conn, err := l.Accept()
		switch {
		case err == nil:
			s.welcome(conn)
		case errors.Is(err, net.ErrClosed):
			return
		default: // too many open files, say: later ones may succeed
			select {
			case <-s.closed:
				return
			case <-time.After(acceptGap):
			}
		}
	}
}

// welcome greets the peer, tells it the present state, and subscribes it, in one step.
func (s *Server) welcome(conn net.Conn) {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.bye != nil:
		s.turnAway(conn, *s.bye)
		return
	case len(s.peers) >= maxPeers:
		s.turnAway(conn, Closing{Reason: "too many are connected to this conversation"})
		return
	}
	p := newPeer(conn)
	s.peers[p] = true
	p.send(&Hello{V: Version, Conversation: s.opts.Conversation, Head: s.head, Seq: s.seq, PID: s.opts.PID, Attached: s.attached != nil})
	for _, d := range s.text.parts {
		p.send(d)
	}
	for _, o := range s.ongoing {
		p.send(o.begun(time.Now()))
	}
	if s.pending != nil {
		p.send(&s.pending.told)
	}
	p.greeted()
	s.group.Go(p.write)
	s.group.Go(func() { s.listen(p) })
}

// turnAway says goodbye instead of hello.
func (s *Server) turnAway(conn net.Conn, bye Closing) {
	p := newPeer(conn)
	p.sayBye(bye)
	s.group.Go(p.write)
}

// Recorded tells of events that are durable, in order.
func (s *Server) Recorded(events []*conversation.Event) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, e := range events {
		s.head, s.seq = conversation.Head(e.Commit), e.Seq
		s.text.durable(e.Seq)
		s.broadcast(&Event{Seq: e.Seq, Commit: s.head, Event: e.Type(), Subject: cut(e.Subject, longestLine)})
		s.answered(s.opts.Conversation, e)
	}
}

// RecordedBy tells the fate of questions of another conversation, which were posted here as well.
func (s *Server) RecordedBy(id conversation.ID, events []*conversation.Event) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, e := range events {
		s.answered(id, e)
	}
}

// answered tells of the end of a question. The lock is held.
func (s *Server) answered(id conversation.ID, e *conversation.Event) {
	if b, ok := e.Body.(*conversation.InquiryResponse); ok {
		s.broadcast(&Answered{Conversation: id, Seq: b.For, Outcome: b.Outcome, By: b.By, Words: cut(e.Subject, longestLine)})
	}
}

// Streamed tells of text that is not durable yet.
func (s *Server) Streamed(d Delta) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, piece := range pieces(d) {
		s.text.add(piece)
		s.broadcast(piece)
	}
}

// Noticed tells a line for the user.
func (s *Server) Noticed(text string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.broadcast(&Notice{Text: cut(text, longestLine)})
}

// broadcast sends to all peers; one that does not take its messages is dropped.
// The lock is held.
func (s *Server) broadcast(m Message) {
	if len(s.peers) == 0 {
		return
	}
	line, err := Encode(m)
	if err != nil {
		return // every text in a message is cut to fit
	}
	for p := range s.peers {
		p.put(line)
	}
}

// State is the process's state for the registry.
func (s *Server) State() State {
	s.mu.Lock()
	defer s.mu.Unlock()
	state := State{Attached: s.attached != nil}
	if s.pending != nil {
		inquiry := s.pending.told
		state.Pending = &inquiry
	}
	return state
}

// Attached reports whether a terminal is attached, and gives a channel that is
// closed when that changes.
func (s *Server) Attached() (attached bool, changed <-chan struct{}) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.attached != nil, s.moved
}

// Close says goodbye to all peers and ends the server. A peer that does not take the goodbye within a second
// is cut off. When Close returns, also a second time, the server is gone.
func (s *Server) Close(bye Closing) {
	s.mu.Lock()
	if s.bye == nil {
		s.bye = &bye
		close(s.closed)
		for _, l := range s.listeners {
			l.Close()
		}
		for p := range s.peers {
			p.sayBye(bye)
		}
	}
	s.mu.Unlock()
	s.group.Wait()
}
