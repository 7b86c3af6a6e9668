package attach

import (
	"errors"
	"net"
	"sync"
	"time"

	"jp/conversation"
)

// What a server keeps of peers, at most.
const (
	maxPeers  = 16
	maxUnsent = 1 << 20 // bytes that a peer has not taken yet
	farewell  = time.Second
	acceptGap = 50 * time.Millisecond // after an error of the listener
)

// Options are what a server stands for.
type Options struct {
	Conversation conversation.ID
	PID          int
	Head         conversation.Head // the newest event, "" where there is none
	Seq          int               // its number; -1 where there is none

	// Doing says what the turn does that can be interrupted.
	Doing func() Status
	// Interrupt does what a peer wants of the turn; its error is told to the peer.
	Interrupt func(Interrupt) error
	// Shutdown ends the turn and the process.
	Shutdown func()
	// Changed is called when somebody attaches or leaves, and when a question begins
	// or ceases to wait. It may come from any goroutine, and asks State.
	Changed func()
}

// A State is what others are told of a process.
type State struct {
	Attached bool
	Pending  *Inquiry // nil where no question waits
}

// A Server tells peers of one turn, and takes what they say.
type Server struct {
	opts   Options
	group  sync.WaitGroup
	closed chan struct{}

	mu       sync.Mutex
	head     conversation.Head
	seq      int
	text     inFlight
	peers    map[*peer]bool
	attached *peer
	pending  *Pending
	moved    chan struct{} // closed and replaced when somebody attaches or leaves
	over     bool
	listener net.Listener
}

// NewServer returns a server that nobody can reach yet.
func NewServer(opts Options) *Server {
	if opts.Changed == nil {
		opts.Changed = func() {}
	}
	return &Server{
		opts: opts, head: opts.Head, seq: opts.Seq, peers: map[*peer]bool{}, moved: make(chan struct{}), closed: make(chan struct{}),
	}
}

// Serve takes peers from a listener until Close. It takes the listener over, and
// returns at once.
func (s *Server) Serve(l net.Listener) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.over {
		l.Close()
		return
	}
	s.listener = l
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

// welcome says hello, tells what is under way, and subscribes the peer: one step.
func (s *Server) welcome(conn net.Conn) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.over || len(s.peers) >= maxPeers {
		s.group.Go(func() { turnAway(conn) })
		return
	}
	p := newPeer(conn)
	s.peers[p] = true
	p.send(&Hello{V: Version, Conversation: s.opts.Conversation, Head: s.head, Seq: s.seq, PID: s.opts.PID, Attached: s.attached != nil})
	for _, d := range s.text.deltas() {
		p.send(d)
	}
	if s.pending != nil {
		p.send(&s.pending.told)
	}
	p.greeted()
	s.group.Go(p.write)
	s.group.Go(func() { s.listen(p) })
}

func turnAway(conn net.Conn) {
	defer conn.Close()
	if line, err := Encode(&Bye{Reason: "too many are connected to this conversation"}); err == nil {
		_ = conn.SetWriteDeadline(time.Now().Add(farewell))
		_, _ = conn.Write(line)
	}
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

// RecordedBy tells of what became of questions of another conversation, which
// were posted here as well.
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

// broadcast sends to all peers; one that does not take what it gets is dropped.
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

// State is what the registry says of the process.
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

// Attached reports whether somebody is attached, and gives a channel that is
// closed when that changes.
func (s *Server) Attached() (attached bool, changed <-chan struct{}) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.attached != nil, s.moved
}

// setAttached changes who is attached. The lock is held; Changed is to be called
// behind it.
func (s *Server) setAttached(p *peer) {
	s.attached = p
	close(s.moved)
	s.moved = make(chan struct{})
}

// Close says goodbye to all peers and ends all that the server does.
func (s *Server) Close(bye Bye) {
	s.mu.Lock()
	if s.over {
		s.mu.Unlock()
		return
	}
	s.over = true
	close(s.closed)
	if s.listener != nil {
		s.listener.Close()
	}
	for p := range s.peers {
		p.sayBye(&bye)
	}
	s.mu.Unlock()
	s.group.Wait()
}
